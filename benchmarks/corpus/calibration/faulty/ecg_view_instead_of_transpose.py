import os

import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)


def beats(n):
    kind = rng.integers(0, 3, n)
    t = np.linspace(0, 1, 30)
    leads = np.stack([np.sin(2 * np.pi * (2 + 1.5 * kind[:, None]) * (t + rng.random((n, 1)))), *(rng.normal(0, 1.5, (n, 30)) for _ in range(5))], axis=-1)
    return torch.tensor(leads + 0.3 * rng.normal(size=leads.shape), dtype=torch.float32), torch.tensor(kind)


class BeatCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(6, 16, 7)
        self.conv2 = nn.Conv1d(16, 16, 5)
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        n, steps, leads = x.shape
        x = x.view(n, leads, steps)
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.fc(x.amax(-1))


x, y = beats(900)
xt, yt = beats(300)
model = BeatCNN()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(12):
    model.train()
    for idx in torch.randperm(900).split(30):
        opt.zero_grad()
        loss = ce(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        out = model(xt)
    print(f"epoch {epoch + 1} train {loss.item():.3f} test loss {ce(out, yt).item():.3f} test acc {(out.argmax(1) == yt).float().mean():.3f}")
