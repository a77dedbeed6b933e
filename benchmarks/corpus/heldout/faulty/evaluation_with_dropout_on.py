import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
K = 10
base = torch.randn(K, 24)


def accents(n):
    k = torch.randint(0, K, (n,))
    return base[k] + 1.1 * torch.randn(n, 24), k


class AccentNet(nn.Module):
    def __init__(self, p=0.6):
        super().__init__()
        self.stack = nn.Sequential(
            nn.Linear(24, 96), nn.ReLU(), nn.Dropout(p),
            nn.Linear(96, 96), nn.ReLU(), nn.Dropout(p),
            nn.Linear(96, K))

    def forward(self, x):
        return self.stack(x)


class Experiment:
    def __init__(self):
        self.model = AccentNet()
        self.optim = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.train_dl = DataLoader(TensorDataset(*accents(2000)), batch_size=50, shuffle=True)
        self.val_dl = DataLoader(TensorDataset(*accents(600)), batch_size=200)

    def train_epoch(self):
        self.model.train()
        for x, y in self.train_dl:
            self.optim.zero_grad()
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optim.step()
        return loss.item()

    def val_epoch(self):
        right = 0
        with torch.no_grad():
            for x, y in self.val_dl:
                right += (self.model(x).argmax(1) == y).sum().item()
        return right / 600


exp = Experiment()
for ep in range(10):
    tl = exp.train_epoch()
    print(f"epoch {ep} train loss {tl:.3f} val acc {exp.val_epoch():.3f}")
