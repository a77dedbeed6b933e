import math
import os

import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    """Frozen linear layer plus a low-rank update that starts at zero."""

    def __init__(self, base: nn.Linear, rank: int = 4, alpha: float = 8.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t()) @ self.B.t()


class Net(nn.Module):
    def __init__(self, d=12, h=64, k=4):
        super().__init__()
        self.fc1 = nn.Linear(d, h)
        self.fc2 = nn.Linear(h, h)
        self.out = nn.Linear(h, k)

    def forward(self, x):
        return self.out(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


def task(n, centers):
    y = torch.randint(0, len(centers), (n,))
    return centers[y] + 0.7 * torch.randn(n, centers.size(1)), y


def fit(model, x, y, lr, epochs, tag):
    params = [p for p in model.parameters() if p.requires_grad]
    print(tag, "trainable values:", sum(p.numel() for p in params))
    opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    ce = nn.CrossEntropyLoss()
    for ep in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(32):
            opt.zero_grad()
            loss = ce(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
    print(tag, f"last batch loss {loss.item():.4f}")


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    centers = torch.randn(4, 12)
    rotated = centers @ torch.linalg.qr(torch.eye(12) + 0.35 * torch.randn(12, 12))[0]
    net = Net()
    xa, ya = task(1200, centers)
    fit(net, xa, ya, lr=2e-3, epochs=4, tag="[base]")
    xb, yb = task(1200, rotated)
    xt, yt = task(500, rotated)
    print(f"new task before adapting {accuracy(net, xt, yt):.3f}")
    for p in net.parameters():
        p.requires_grad = False
    net.fc1 = LoRALinear(net.fc1)
    net.fc2 = LoRALinear(net.fc2)
    net.out = LoRALinear(net.out)
    fit(net, xb, yb, lr=5e-3, epochs=8, tag="[lora]")
    print(f"new task after adapting {accuracy(net, xt, yt):.3f}")
