import os
import numpy as np
import torch

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def demand(n):
    hour = rng.uniform(0, 24, n)
    temp = rng.normal(15, 8, n)
    load = 3 + np.sin(hour / 24 * 2 * np.pi) * 1.5 + 0.004 * (temp - 18) ** 2 + rng.normal(0, 0.15, n)
    x = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), (temp - 15) / 8], 1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(load, dtype=torch.float32).unsqueeze(1)


def pinball(pred, target, q=0.5):
    diff = target - pred
    return torch.maximum(q * diff, (q - 1) * diff).mean()


class MedianNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc_in = torch.nn.Linear(3, 32)
        self.fc_mid = torch.nn.Linear(32, 32)
        self.fc_out = torch.nn.Linear(32, 1)

    def forward(self, x):
        h = torch.nn.functional.silu(self.fc_in(x))
        h = torch.nn.functional.silu(self.fc_mid(h))
        return self.fc_out(h).view(-1)


x, y = demand(1500)
xt, yt = demand(300)
model = MedianNet()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(15):
    for b in torch.randperm(len(x)).split(60):
        opt.zero_grad()
        loss = pinball(model(x[b]), y[b])
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        print("epoch", epoch + 1, "pinball", round(loss.item(), 4))
model.eval()
with torch.no_grad():
    mae = (model(xt) - yt.view(-1)).abs().mean().item()
print(f"test MAE {mae:.3f}")
