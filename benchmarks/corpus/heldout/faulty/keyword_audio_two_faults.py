import math
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def synth(n, length=96):
    """Four 'keywords': rising chirp, falling chirp, two-tone, amplitude burst."""
    t = torch.linspace(0, 1, length)
    y = torch.randint(0, 4, (n,))
    xs = []
    for k in y.tolist():
        ph = torch.rand(1) * 2 * math.pi
        f = 6 + 3 * torch.rand(1)
        if k == 0:
            s = torch.sin(ph + 2 * math.pi * (f * t + 6 * t ** 2))
        elif k == 1:
            s = torch.sin(ph + 2 * math.pi * ((f + 12) * t - 6 * t ** 2))
        elif k == 2:
            s = torch.where(t < 0.5, torch.sin(ph + 2 * math.pi * f * t), torch.sin(ph + 4 * math.pi * f * t))
        else:
            s = torch.sin(ph + 2 * math.pi * 10 * t) * torch.exp(-((t - 0.5) ** 2) / 0.02)
        xs.append(s + 0.3 * torch.randn(length))
    return torch.stack(xs)[:, None], y


class Spotter(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, width, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(width, width * 2, 5, stride=2, padding=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.out = nn.Linear(width * 8, 4)

    def forward(self, wav):
        return self.out(self.body(wav))


class Runner:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def fit_epoch(self, loader):
        self.model.train()
        tot = 0.0
        for wav, lab in loader:
            loss = self.loss_fn(self.model(wav), lab)
            loss.backward()
            self.opt.step()
            tot += loss.item()
        return tot / len(loader)

    @torch.no_grad()
    def score(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


train_x, train_y = synth(960)
test_x, test_y = synth(400)
loader = DataLoader(TensorDataset(train_x, train_y), batch_size=48, shuffle=True)
runner = Runner(Spotter(), lr=0.2)
for epoch in range(12):
    l = runner.fit_epoch(loader)
    print(f"epoch {epoch + 1:02d} loss {l:.4f}")
print(f"test accuracy {runner.score(test_x, test_y):.3f}")
