import os
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

# documents of a query have 12 features; relevance is a hidden nonlinear utility plus judge noise
D = 12
w1 = torch.randn(D)
w2 = torch.randn(D)


def utility(x):
    return torch.tanh(x @ w1 / 2) + 0.5 * torch.relu(x @ w2 / 3)


def judged_pairs(n):
    a, b = torch.randn(n, D), torch.randn(n, D)
    margin = utility(a) - utility(b) + 0.1 * torch.randn(n)
    return a, b, (margin > 0).float()


scorer = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(scorer.parameters(), lr=3e-3)

a_tr, b_tr, y_tr = judged_pairs(4000)
a_te, b_te, y_te = judged_pairs(800)

for epoch in range(8):
    scorer.train()
    total = 0.0
    for idx in torch.randperm(len(y_tr)).split(80):
        diff = (scorer(a_tr[idx]) - scorer(b_tr[idx])).squeeze(-1)
        loss = F.binary_cross_entropy_with_logits(diff, y_tr[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    scorer.eval()
    with torch.no_grad():
        right = ((scorer(a_te) > scorer(b_te)).squeeze(-1).float() == y_te).float().mean()
    print(f"epoch {epoch}  pair loss {total / len(y_tr):.4f}  concordant {right:.3f}")
