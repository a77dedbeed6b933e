import os

import numpy as np
import torch
from torch import nn

LEARNING_RATE = 10.0
BATCH_SIZE = 32
EPOCHS = 10

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
rng = np.random.default_rng(seed)


def vibration(n):
    fault = rng.integers(0, 3, n)
    t = np.arange(48) / 48
    freq = np.array([4.0, 7.0, 11.0])[fault]
    sig = np.sin(2 * np.pi * (freq[:, None] * t + rng.random((n, 1)))) + 0.5 * rng.normal(size=(n, 48))
    return torch.tensor(sig, dtype=torch.float32).unsqueeze(1), torch.tensor(fault)


class PumpNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv1d(1, 16, 9)
        self.d = nn.Conv1d(16, 16, 5)
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        x = torch.relu(self.c(x))
        x = torch.relu(self.d(x))
        return self.fc(x.mean(-1))


x, y = vibration(800)
xv, yv = vibration(300)
net = PumpNet()
sgd = torch.optim.SGD(net.parameters(), lr=LEARNING_RATE)
for epoch in range(EPOCHS):
    net.train()
    for idx in torch.randperm(len(x)).split(BATCH_SIZE):
        sgd.zero_grad()
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        sgd.step()
    net.eval()
    with torch.no_grad():
        out = net(xv)
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {(out.argmax(1) == yv).float().mean().item():.3f}")
