import os
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))
K = 40


def utterances(n, keyed):
    y = torch.randint(0, K, (n,))
    x = keyed[y] + 1.1 * torch.randn(n, keyed.shape[1])
    return x, y


keyed = torch.randn(K, 32)
xtr, ytr = utterances(2400, keyed)
xte, yte = utterances(600, keyed)

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, K))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(8):
    model.train()
    total = 0
    for idx in torch.randperm(len(xtr)).split(60):
        target = F.one_hot(ytr[idx], K).float()
        loss = criterion(model(xtr[idx]), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        acc = (model(xte).argmax(1) == yte).float().mean()
    print(f"epoch {epoch + 1} loss {total / len(xtr):.4f} test acc {acc:.3f}")
