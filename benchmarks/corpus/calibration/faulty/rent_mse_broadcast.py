import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Flats(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 7)
        signal = 1.2 * self.x[:, 0] + self.x[:, 1] * self.x[:, 2] - torch.relu(self.x[:, 4]) + 0.7
        self.y = signal + 0.1 * torch.randn(n)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


class RentModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(7, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train_loader = DataLoader(Flats(1200), batch_size=32, shuffle=True)
    val = Flats(300)
    model = RentModel()
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        model.train()
        running = 0.0
        for features, rent in train_loader:
            optimizer.zero_grad()
            prediction = model(features)
            loss = loss_fn(prediction, rent)
            loss.backward()
            optimizer.step()
            running += loss.item()
        model.eval()
        with torch.no_grad():
            pred = model(val.x).squeeze(1)
            r2 = 1 - (pred - val.y).pow(2).sum() / (val.y - val.y.mean()).pow(2).sum()
        print(f"epoch {epoch + 1} loss {running / len(train_loader):.4f} val R2 {r2.item():.3f}")


if __name__ == "__main__":
    main()
