import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
LENGTH, CLASSES = 48, 5
templates = torch.randn(CLASSES, 9)


def beats(n):
    signal = 0.4 * torch.randn(n, 1, LENGTH)
    kind = torch.randint(0, CLASSES, (n,))
    place = torch.randint(0, LENGTH - 9, (n,))
    for i in range(n):
        signal[i, 0, place[i] : place[i] + 9] += templates[kind[i]]
    return signal, kind


class Block(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv1d(channels_in, channels_out, 5, padding=2)
        self.act = nn.ReLU()
        self.pool = nn.MaxPool1d(2)

    def forward(self, x):
        return self.pool(self.act(self.conv(x)))


model = nn.Sequential(
    Block(1, 12),
    Block(12, 24),
    nn.Flatten(),
    nn.Linear(24 * (LENGTH // 4), 32),
    nn.ReLU(),
    nn.Linear(32, CLASSES),
)

x, y = beats(1500)
xt, yt = beats(300)
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
loss_fn = nn.CrossEntropyLoss()
steps = 400
for step in range(steps):
    rows = torch.randint(0, len(x), (48,))
    loss = loss_fn(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("step", step, "loss", loss.item())
model.eval()
with torch.no_grad():
    print(f"test acc {(model(xt).argmax(1) == yt).float().mean().item():.3f}")
