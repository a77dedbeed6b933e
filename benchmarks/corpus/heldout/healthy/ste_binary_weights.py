"""Binary-weight network with a straight-through estimator on a majority-of-patterns task."""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return g * (w.abs() <= 1).float()


class BinaryLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.abs().mean(dim=1, keepdim=True).detach()
        return F.linear(x, SignSTE.apply(self.weight) * scale, self.bias)


class BinaryNet(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.fc1 = BinaryLinear(d, 128)
        self.bn1 = nn.BatchNorm1d(128)
        self.fc2 = BinaryLinear(128, 128)
        self.bn2 = nn.BatchNorm1d(128)
        self.out = nn.Linear(128, k)

    def forward(self, x):
        x = F.hardtanh(self.bn1(self.fc1(x)))
        x = F.hardtanh(self.bn2(self.fc2(x)))
        return self.out(x)


templates = torch.randn(6, 2, 32)


def make(n):
    y = torch.randint(0, 6, (n,))
    which = torch.randint(0, 2, (n,))
    return templates[y, which] + 0.9 * torch.randn(n, 32), y


train_loader = DataLoader(TensorDataset(*make(3000)), batch_size=100, shuffle=True)
x_test, y_test = make(1000)
net = BinaryNet(32, 6)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    net.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for m in (net.fc1, net.fc2):
                m.weight.clamp_(-1, 1)
    net.eval()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean()
    print(f"epoch {epoch + 1:2d} loss {loss.item():.4f} acc {acc.item():.4f}")
