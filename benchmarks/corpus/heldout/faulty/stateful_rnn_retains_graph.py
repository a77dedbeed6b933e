import os
import time
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class StreamModel(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.cell = nn.RNN(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, h):
        y, h = self.cell(x, h)
        return self.out(y), h


# one long stream, cut into chunks of 10 steps, 8 parallel tracks
t = torch.arange(0, 1501).float()
stream = torch.stack([torch.sin(0.15 * t + p) + 0.5 * torch.sin(0.37 * t + 2 * p) for p in torch.rand(8) * 6.28])
stream = stream + 0.05 * torch.randn_like(stream)
model = StreamModel()
mse = nn.MSELoss()
lr = 0.05
h = torch.zeros(1, 8, 24)
started = time.time()
for step in range(90):
    lo = step * 10
    x = stream[:, lo:lo + 10, None]
    y = stream[:, lo + 1:lo + 11, None]
    pred, h = model(x, h)
    loss = mse(pred, y)
    model.zero_grad()
    loss.backward(retain_graph=True)
    with torch.no_grad():
        for p in model.parameters():
            p.data = p.data - lr * p.grad
    if step % 15 == 14:
        print(f"chunk {step + 1} loss {loss.item():.4f} ({time.time() - started:.2f}s)")
print(f"total time {time.time() - started:.2f}s final loss {loss.item():.4f}")
