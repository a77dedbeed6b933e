import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def soil(n, rng):
    ph = rng.normal(6.5, 0.8, n)
    sand = rng.uniform(5, 90, n)
    organic = rng.gamma(2, 1.5, n)
    potash = rng.normal(180, 60, n)
    score = -(ph - 6.5) ** 2 * 2 + 0.02 * (potash - 180) + organic - 3 - 0.03 * np.abs(sand - 45)
    return np.stack([ph, sand, organic, potash], 1).astype(np.float32), (score > -1.5).astype(np.int64)


class SoilNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(4, 32)
        self.l2 = nn.Linear(32, 32)
        self.l3 = nn.Linear(32, 2)

    def forward(self, x):
        return self.l3(torch.relu(self.l2(torch.relu(self.l1(x)))))


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    x_train, y_train = soil(1500, rng)
    x_test, y_test = soil(500, rng)
    mean, std = x_train.mean(0), x_train.std(0)
    x_train = (x_train - mean) / std
    train = DataLoader(TensorDataset(torch.from_numpy(x_train), torch.from_numpy(y_train)), batch_size=50, shuffle=True)
    test = DataLoader(TensorDataset(torch.from_numpy(x_test), torch.from_numpy(y_test)), batch_size=250)
    net = SoilNet()
    ce = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(12):
        net.train()
        train_hits = 0
        for x, y in train:
            opt.zero_grad()
            out = net(x)
            loss = ce(out, y)
            loss.backward()
            opt.step()
            train_hits += (out.argmax(1) == y).sum().item()
        net.eval()
        with torch.no_grad():
            hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
        print(f"epoch {epoch}: train acc {train_hits / 1500:.3f} test acc {hits / 500:.3f}")


if __name__ == "__main__":
    main()
