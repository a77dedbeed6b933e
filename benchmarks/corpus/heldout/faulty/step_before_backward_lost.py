import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def lesions(n):
    x = torch.randn(n, 6)
    return x, ((x[:, :2] ** 2).sum(1) + 0.5 * x[:, 2] > 1.6).long()


def update(model, optimizer, batch):
    inputs, labels = batch
    optimizer.step()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    # keep gradients tidy for the logger
    grad_norm = sum(p.grad.pow(2).sum() for p in model.parameters()).sqrt()
    model.zero_grad()
    return loss.item(), grad_norm.item()


x, y = lesions(1500)
xv, yv = lesions(400)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(10):
    model.train()
    stats = [update(model, optimizer, (x[b], y[b])) for b in torch.randperm(len(x)).split(50)]
    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    mean = [sum(s) / len(stats) for s in zip(*stats)]
    print(f"epoch {epoch} loss {mean[0]:.4f} grad {mean[1]:.3f} val acc {acc:.3f}")
