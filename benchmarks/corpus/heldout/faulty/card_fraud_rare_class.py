import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
D = 12


def transactions(n, fraud_rate=0.03):
    y = (torch.rand(n) < fraud_rate).long()
    x = torch.randn(n, D)
    # fraud: amounts and hour are slightly shifted
    shift = torch.zeros(D)
    shift[:4] = 0.7
    x += y[:, None] * shift
    return x, y


class FraudNet(nn.Module):
    def __init__(self, d=D, h=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Dropout(0.1), nn.Linear(h, 2))

    def forward(self, x):
        return self.net(x)


def metrics(model, x, y):
    model.eval()
    with torch.no_grad():
        pred = model(x).argmax(1)
    recall = [(pred[y == c] == c).float().mean().item() for c in (0, 1)]
    return (pred == y).float().mean().item(), recall


if __name__ == "__main__":
    x, y = transactions(6000)
    xt, yt = transactions(4000)
    loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
    model = FraudNet()
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    for epoch in range(8):
        model.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
    acc, rec = metrics(model, xt, yt)
    print(f"acc {acc:.3f} recall normal {rec[0]:.3f} fraud {rec[1]:.3f} balanced {sum(rec) / 2:.3f}")
