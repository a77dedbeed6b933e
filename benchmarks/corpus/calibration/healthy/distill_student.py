import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


def checkers(n):
    x = torch.rand(n, 2) * 3
    y = (x[:, 0].floor() + x[:, 1].floor()).long() % 3
    return (x - 1.5) / 0.87, y


def mlp(width):
    return nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3))


def acc(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


x_train, y_train = checkers(2000)
x_test, y_test = checkers(600)

teacher = mlp(96)
opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for epoch in range(12):
    teacher.train()
    for idx in torch.randperm(2000).split(64):
        loss = F.cross_entropy(teacher(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"teacher test acc {acc(teacher, x_test, y_test):.3f}")

teacher.eval()
student = mlp(24)
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
TEMP, ALPHA = 3.0, 0.7
for epoch in range(12):
    student.train()
    for idx in torch.randperm(2000).split(64):
        xb, yb = x_train[idx], y_train[idx]
        with torch.no_grad():
            soft = F.softmax(teacher(xb) / TEMP, dim=1)
        logits = student(xb)
        kd = F.kl_div(F.log_softmax(logits / TEMP, dim=1), soft, reduction="batchmean") * TEMP**2
        loss = ALPHA * kd + (1 - ALPHA) * F.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        print(f"student epoch {epoch + 1}: loss {loss.item():.4f} test acc {acc(student, x_test, y_test):.3f}")
