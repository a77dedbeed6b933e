import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def patients(n):
    x = torch.randn(n, 7)
    risk = x[:, 0] ** 2 + x[:, 1] - x[:, 2] * x[:, 3]
    return x, (risk > 0.8).long()


class Net(nn.Module):
    def __init__(self, n_in=7, n_hidden=32, n_out=1):
        super().__init__()
        self.layer1 = nn.Linear(n_in, n_hidden)
        self.layer2 = nn.Linear(n_hidden, n_out)

    def forward(self, x):
        return self.layer2(torch.relu(self.layer1(x)))


def main():
    x, y = patients(1500)
    loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
    xv, yv = patients(400)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        net.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(net(xb), yb.float().unsqueeze(1))
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            acc = ((net(xv)[:, 0] > 0) == yv.bool()).float().mean().item()
        print(f"epoch {epoch}, loss {loss.item():.4f}, val acc {acc:.3f}")


if __name__ == "__main__":
    main()
