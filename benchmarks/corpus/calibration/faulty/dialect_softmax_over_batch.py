import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class DialectNet(nn.Module):
    def __init__(self, n_feat=26, n_dialects=5):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_feat, 48), nn.ReLU(), nn.Linear(48, n_dialects))
        self.logp = nn.LogSoftmax(dim=0)

    def forward(self, x):
        return self.logp(self.body(x))


def speakers(n, accents, p=None):
    prob = torch.tensor([0.4, 0.25, 0.15, 0.12, 0.08])
    y = torch.multinomial(prob, n, replacement=True)
    return accents[y] + 1.6 * torch.randn(n, 26), y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    accents = torch.randn(5, 26)
    loader = DataLoader(TensorDataset(*speakers(1200, accents)), batch_size=16, shuffle=True)
    test = DataLoader(TensorDataset(*speakers(400, accents)), batch_size=1)
    model = DialectNet()
    nll = nn.NLLLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = nll(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test)
        print(f"epoch {epoch}: loss {total / len(loader):.3f} test acc {hits / 400:.3f}")


if __name__ == "__main__":
    main()
