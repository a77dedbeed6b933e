import os
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
random.seed(seed)
torch.manual_seed(seed)


def make_transactions(n, fraud_rate=0.06):
    y = (torch.rand(n) < fraud_rate).float()
    x = torch.randn(n, 12)
    # fraud: unusual amounts at unusual hours, in correlation
    bump = torch.zeros(n, 12)
    bump[:, 0] = 2.0
    bump[:, 3] = -1.6
    bump[:, 7] = 1.4
    sign = torch.where(torch.rand(n) < 0.5, 1.0, -1.0).unsqueeze(1)
    x = x + y.unsqueeze(1) * bump * sign
    return x, y


class FocalLoss(nn.Module):
    def __init__(self, alpha=0.75, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logit, target):
        bce = nn.functional.binary_cross_entropy_with_logits(logit, target, reduction="none")
        p_t = torch.exp(-bce)
        a_t = self.alpha * target + (1 - self.alpha) * (1 - target)
        return (a_t * (1 - p_t) ** self.gamma * bce).mean()


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)
        )

    def forward(self, x):
        return self.net(x).flatten()


def auc(score, y):
    order = score.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(1, len(y) + 1)
    pos = y.bool()
    n1, n0 = pos.sum(), (~pos).sum()
    return ((rank[pos].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)).item()


train_x, train_y = make_transactions(5000)
test_x, test_y = make_transactions(3000)
loader = DataLoader(TensorDataset(train_x, train_y), batch_size=128, shuffle=True)
model, crit = Scorer(), FocalLoss()
optim = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(12):
    model.train()
    s = 0.0
    for xb, yb in loader:
        optim.zero_grad()
        loss = crit(model(xb), yb)
        loss.backward()
        optim.step()
        s += loss.item()
    model.eval()
    with torch.no_grad():
        print(f"epoch {epoch}: focal {s / len(loader):.5f}  test AUC {auc(model(test_x), test_y):.4f}")
