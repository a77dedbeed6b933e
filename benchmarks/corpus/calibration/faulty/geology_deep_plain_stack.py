import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class DeepNet(nn.Module):
    def __init__(self, n_in=8, width=32, depth=13, n_out=4):
        super().__init__()
        blocks = [nn.Linear(n_in, width), nn.ReLU()]
        for _ in range(depth):
            blocks += [nn.Linear(width, width), nn.ReLU()]
        blocks.append(nn.Linear(width, n_out))
        self.net = nn.Sequential(*blocks)

    def forward(self, x):
        return self.net(x)


def cores(n):
    x = torch.randn(n, 8)
    s = x[:, :2].abs().sum(1) - x[:, 2:4].abs().sum(1) + x[:, 4]
    return x, torch.bucketize(s, torch.tensor([-1.0, 0.0, 1.0]))


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train_loader = DataLoader(TensorDataset(*cores(2400)), batch_size=64, shuffle=True)
    xv, yv = cores(400)
    model = DeepNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(12):
        model.train()
        tot = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            tot += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch + 1} loss {tot / len(train_loader):.3f} val acc {acc:.3f}")
