import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

cfg = {"width": 64, "p_drop": 0.9, "lr": 1e-5, "epochs": 15, "batch": 32}


class MLP(nn.Module):
    def __init__(self, d, k, width, p):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(d, width), nn.Linear(width, width), nn.Linear(width, k)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        x = self.drop(torch.relu(self.fc1(x)))
        x = self.drop(torch.relu(self.fc2(x)))
        return self.fc3(x)


def main():
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    g = torch.Generator().manual_seed(4)
    centres = torch.randn(8, 20, generator=g)
    y = torch.randint(0, 8, (2000,), generator=g)
    x = centres[y] + torch.randn(2000, 20, generator=g)
    dl = DataLoader(TensorDataset(x[:1500], y[:1500]), cfg["batch"], shuffle=True)
    model = MLP(20, 8, cfg["width"], cfg["p_drop"])
    opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        model.train()
        for xb, yb in dl:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(x[1500:]).argmax(1) == y[1500:]).float().mean().item()
        print(f"epoch {epoch + 1:2d} loss {loss.item():.3f} val acc {acc:.3f}")


main()
