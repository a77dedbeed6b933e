import os
import numpy as np
import torch

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def curves(n):
    k = rng.uniform(0.2, 3.0, n)
    t = np.linspace(0, 2, 20)
    obs = np.exp(-k[:, None] * t) + rng.normal(0, 0.03, (n, 20))
    return torch.tensor(obs, dtype=torch.float32), torch.tensor(k, dtype=torch.float32)


class KNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(20, 40)
        self.fc2 = torch.nn.Linear(40, 40)
        self.fc3 = torch.nn.Linear(40, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def huber(pred, target, delta=0.5):
    err = pred - target
    small = err.abs() < delta
    return torch.where(small, 0.5 * err**2, delta * (err.abs() - 0.5 * delta)).mean()


x, k = curves(1000)
xt, kt = curves(300)
net = KNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
n_batches = len(x) // 40
for ep in range(20):
    net.train()
    perm = torch.randperm(len(x))
    tot = 0.0
    for b in range(n_batches):
        rows = perm[b * 40 : (b + 1) * 40]
        opt.zero_grad()
        loss = huber(net(x[rows]), k[rows])
        loss.backward()
        opt.step()
        tot += loss.item()
    if ep % 5 == 4:
        print("epoch", ep + 1, "train", round(tot / n_batches, 4))
net.eval()
with torch.no_grad():
    mae = (net(xt)[:, 0] - kt).abs().mean().item()
print("test mae %.4f" % mae)
