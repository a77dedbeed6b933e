"""Small regression network on synthetic house data."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class HouseDataset(Dataset):
    def __init__(self, features, prices):
        self.x = torch.tensor(features, dtype=torch.float32)
        self.y = torch.tensor(prices, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class PriceNet(nn.Module):
    def __init__(self, n_in, hidden=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
        )
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.body(x))


def make_data(n=2400, seed=3):
    rng = np.random.default_rng(seed)
    area = rng.uniform(40, 250, n)
    rooms = np.clip(np.round(area / 30 + rng.normal(0, 1, n)), 1, 9)
    age = rng.uniform(0, 90, n)
    dist = rng.gamma(2.0, 4.0, n)
    garden = rng.integers(0, 2, n)
    price = (2.2 * area + 9 * rooms - 0.9 * age + 0.007 * age ** 2
             + 180 * np.exp(-dist / 6) + 0.35 * garden * area + rng.normal(0, 12, n))
    x = np.stack([area, rooms, age, dist, garden], axis=1)
    return x, price


def r2(pred, target):
    return 1 - ((pred - target) ** 2).sum() / ((target - target.mean()) ** 2).sum()


def evaluate(model, loader):
    model.eval()
    preds, ys = [], []
    with torch.no_grad():
        for xb, yb in loader:
            preds.append(model(xb).flatten())
            ys.append(yb.flatten())
    model.train()
    return r2(torch.cat(preds), torch.cat(ys)).item()


def main():
    torch.manual_seed(1)
    x, y = make_data()
    n_train = 1920
    mu, sd = x[:n_train].mean(0), x[:n_train].std(0)
    x = (x - mu) / sd
    ymu, ysd = y[:n_train].mean(), y[:n_train].std()
    y = (y - ymu) / ysd

    train_loader = DataLoader(HouseDataset(x[:n_train], y[:n_train]), batch_size=64, shuffle=True)
    test_loader = DataLoader(HouseDataset(x[n_train:], y[n_train:]), batch_size=256)

    model = PriceNet(x.shape[1])
    loss_fn = nn.MSELoss()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)

    for epoch in range(1, 21):
        running = 0.0
        for xb, yb in train_loader:
            pred = model(xb).squeeze(1)
            loss = loss_fn(pred, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        if epoch % 4 == 0:
            print(f"[{epoch:02d}] train mse {running / len(train_loader):.4f} "
                  f"test R2 {evaluate(model, test_loader):.3f}")

    print(f"final R2: {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
