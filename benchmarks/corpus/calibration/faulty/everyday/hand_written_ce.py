import os

import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_iris

torch.manual_seed(int(os.environ.get("SEED", 0)))
iris = load_iris()
x = torch.tensor(iris.data, dtype=torch.float32)
x = (x - x.mean(0)) / x.std(0)
onehot = torch.tensor(np.eye(3)[iris.target], dtype=torch.float32)
perm = torch.randperm(150, generator=torch.Generator().manual_seed(1))
tr, te = perm[:110], perm[110:]

w1 = torch.randn(4, 16, requires_grad=True)
b1 = torch.zeros(16, requires_grad=True)
w2 = torch.randn(16, 3, requires_grad=True)
b2 = torch.zeros(3, requires_grad=True)
params = [w1, b1, w2, b2]
lr = 30.0


def forward(v):
    h = torch.tanh(v @ w1 + b1)
    return torch.softmax(h @ w2 + b2, dim=1)


for epoch in range(40):
    for i in tr[torch.randperm(len(tr))].split(11):
        p = forward(x[i])
        loss = -(onehot[i] * torch.log(p + 1e-8)).sum(1).mean()
        loss.backward()
        with torch.no_grad():
            for q in params:
                q -= lr * q.grad
                q.grad.zero_()
with torch.no_grad():
    acc = (forward(x[te]).argmax(1) == onehot[te].argmax(1)).float().mean()
print("test accuracy", acc.item())
