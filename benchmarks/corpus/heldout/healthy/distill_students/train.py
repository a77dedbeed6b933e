"""Train a teacher, then distil it into a small student."""
import os

import torch
import torch.nn.functional as F

from dataset import batches, checkerboard
from losses import distillation_loss
from networks import student, teacher


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def train_teacher(net, x, y, epochs=15):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(epochs):
        net.train()
        for xb, yb in batches(x, y, 100):
            opt.zero_grad()
            F.cross_entropy(net(xb), yb).backward()
            opt.step()


def train_student(net, guide, x, y, epochs=30):
    opt = torch.optim.Adam(net.parameters(), lr=2e-2)
    guide.eval()
    for epoch in range(epochs):
        net.train()
        total, n = 0.0, 0
        for xb, yb in batches(x, y, 100):
            with torch.no_grad():
                target = guide(xb)
            loss = distillation_loss(net(xb), target, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, n = total + loss.item(), n + 1
        if epoch % 10 == 9:
            print(f"  student epoch {epoch + 1}: loss {total / n:.4f}")


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = checkerboard(2000)
    x_test, y_test = checkerboard(1000)
    big, small = teacher(2, 3), student(2, 3)
    train_teacher(big, x, y)
    print(f"teacher test acc {accuracy(big, x_test, y_test):.3f}")
    train_student(small, big, x, y)
    print(f"student test acc {accuracy(small, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
