"""Low-rank adapters on a frozen regressor: adapt to a shifted domain training <20% of the weights."""
import os
import math
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        self.base.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T) @ self.B.T


class Regressor(nn.Module):
    def __init__(self, d=8, h=64):
        super().__init__()
        self.l1 = nn.Linear(d, h)
        self.l2 = nn.Linear(h, h)
        self.l3 = nn.Linear(h, 1)

    def forward(self, x):
        return self.l3(torch.relu(self.l2(torch.relu(self.l1(x))))).squeeze(-1)


def domain(n, shifted):
    x = torch.randn(n, 8)
    u = x[:, 0] * x[:, 1] + torch.sin(2 * x[:, 2]) + 0.5 * x[:, 3]
    if shifted:
        u = 0.8 * u + 0.7 * x[:, 4] - 0.6 * x[:, 3] + 0.5
    return x, u


def train(model, params, data, steps, lr):
    opt = torch.optim.Adam(params, lr=lr)
    x, y = data
    for i in range(steps):
        b = torch.randint(0, len(x), (64,))
        loss = nn.functional.mse_loss(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 100 == 99:
            print(f"   step {i + 1} mse {loss.item():.4f}")


@torch.no_grad()
def test(model, data):
    return nn.functional.mse_loss(model(data[0]), data[1]).item()


torch.manual_seed(int(os.environ.get("SEED", "0")))
source, target = domain(4000, False), domain(1500, True)
target_test = domain(1000, True)
model = Regressor()
print("pretraining on the source domain")
train(model, model.parameters(), source, 400, 3e-3)
print(f"target mse before adaptation {test(model, target_test):.4f}")

for name in ("l1", "l2", "l3"):
    setattr(model, name, LoRALinear(getattr(model, name)))
trainable = [p for p in model.parameters() if p.requires_grad]
print("trainable", sum(p.numel() for p in trainable), "of", sum(p.numel() for p in model.parameters()))
train(model, trainable, target, 400, 5e-3)
print(f"target mse after adaptation {test(model, target_test):.4f} (variance {target_test[1].var().item():.3f})")
