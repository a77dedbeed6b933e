"""Distil a float MLP into a network with binary weights AND binary activations (straight-through estimator)."""
import torch
from torch import nn
from torch.nn import functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1)          # zero gradient outside the clip range: that is the estimator


sign = SignSTE.apply


class BinaryLinear(nn.Linear):
    def forward(self, x):
        alpha = self.weight.detach().abs().mean(1)          # XNOR-net scale, not trained
        return F.linear(x, sign(self.weight)) * alpha


class BinaryMLP(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.l1 = BinaryLinear(64, width, bias=False)
        self.b1 = nn.BatchNorm1d(width)
        self.l2 = BinaryLinear(width, width, bias=False)
        self.b2 = nn.BatchNorm1d(width)
        self.head = BinaryLinear(width, 10, bias=False)
        self.b3 = nn.BatchNorm1d(10)
        for m in (self.l1, self.l2, self.head):
            nn.init.uniform_(m.weight, -0.5, 0.5)

    def forward(self, x):
        h = sign(self.b1(self.l1(x)))
        h = sign(self.b2(self.l2(h)))
        return self.b3(self.head(h))

    def clamp(self):
        for m in (self.l1, self.l2, self.head):
            m.weight.data.clamp_(-1, 1)


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def train_teacher(xtr, ytr, xte, yte):
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(18):
        net.train()
        for i in torch.randperm(len(xtr)).split(64):
            opt.zero_grad()
            F.cross_entropy(net(xtr[i]), ytr[i]).backward()
            opt.step()
        if epoch % 6 == 5:
            print(f"teacher epoch {epoch + 1}: test acc {accuracy(net, xte, yte):.4f}")
    return net.eval().requires_grad_(False)


def train_student(teacher, xtr, ytr, xte, yte, T=4.0, w=0.9, epochs=45):
    net = BinaryMLP()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    soft = (teacher(xtr) / T).softmax(1)           # teacher is fixed, so its targets are computed once
    for epoch in range(epochs):
        net.train()
        flips = tot = 0.0
        before = torch.sign(net.l2.weight.detach().clone())
        for i in torch.randperm(len(xtr)).split(128):
            out = net(xtr[i])
            kd = F.kl_div((out / T).log_softmax(1), soft[i], reduction="batchmean") * T * T
            loss = w * kd + (1 - w) * F.cross_entropy(out, ytr[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
            net.clamp()
            tot += loss.item() * len(i)
        sched.step()
        flips = (torch.sign(net.l2.weight.detach()) != before).float().mean().item()
        if epoch % 5 == 4:
            print(f"student epoch {epoch + 1:2d}: loss {tot / len(xtr):.4f} weights flipped {100 * flips:.1f}% "
                  f"train acc {accuracy(net, xtr, ytr):.4f} test acc {accuracy(net, xte, yte):.4f}")
    return net


if __name__ == "__main__":
    torch.manual_seed(2)
    X, y = load_digits(return_X_y=True)
    X = torch.tensor(X, dtype=torch.float32) / 8 - 1
    y = torch.tensor(y)
    tr, te = train_test_split(torch.arange(len(y)), test_size=0.3, random_state=2, stratify=y)
    data = X[tr], y[tr], X[te], y[te]
    teacher = train_teacher(*data)
    student = train_student(teacher, *data)
    print(f"binary student {accuracy(student, X[te], y[te]):.4f}, teacher {accuracy(teacher, X[te], y[te]):.4f}, chance 0.10")
