"""Two-layer network written with raw tensors; the update is done by hand."""
import math
import os

import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))

n, d, h, k = 1200, 2, 40, 2
pts = torch.rand(n, d) * 4 - 2
labels = ((pts[:, 0] * pts[:, 1] + 0.3 * torch.sin(3 * pts[:, 0])) > 0).long()
train_x, train_y, test_x, test_y = pts[:900], labels[:900], pts[900:], labels[900:]

W1 = (torch.randn(d, h) * math.sqrt(2 / d)).requires_grad_()
b1 = torch.zeros(h, requires_grad=True)
W2 = (torch.randn(h, k) * math.sqrt(1 / h)).requires_grad_()
b2 = torch.zeros(k, requires_grad=True)
params = [W1, b1, W2, b2]
velocity = [torch.zeros_like(p) for p in params]


def forward(x):
    return torch.relu(x @ W1 + b1) @ W2 + b2


lr, mu = 0.05, 0.8
for epoch in range(30):
    for idx in torch.randperm(len(train_x)).split(30):
        logp = torch.log_softmax(forward(train_x[idx]), dim=1)
        loss = -logp[torch.arange(len(idx)), train_y[idx]].mean()
        loss.backward()
        with torch.no_grad():
            for p, v in zip(params, velocity):
                v.mul_(mu).add_(p.grad)
                p -= lr * v
                p.grad = None
    if epoch % 5 == 4:
        with torch.no_grad():
            acc = (forward(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} test acc {acc:.3f}")
