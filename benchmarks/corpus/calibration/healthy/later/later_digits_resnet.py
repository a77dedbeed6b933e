"""Small ResNet on the 8x8 sklearn digits, with random shifts and noise."""
import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--weight-decay", type=float, default=1e-4)
    p.add_argument("--width", type=int, default=16)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


class ResBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        if stride != 1 or cin != cout:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        else:
            self.shortcut = nn.Identity()

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class TinyResNet(nn.Module):
    def __init__(self, width=16, num_classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.layer1 = ResBlock(width, width)
        self.layer2 = ResBlock(width, 2 * width, stride=2)
        self.layer3 = ResBlock(2 * width, 2 * width)
        self.fc = nn.Linear(2 * width, num_classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return self.fc(x.mean(dim=(2, 3)))


def augment(x):
    """Shift about half of the images by one pixel, add a little noise to all."""
    dx, dy = random.choice([(-1, 0), (1, 0), (0, -1), (0, 1)])
    mask = torch.rand(x.size(0)) < 0.5
    padded = F.pad(x, (1, 1, 1, 1), value=x.min().item())
    shifted = padded[:, :, 1 + dy:9 + dy, 1 + dx:9 + dx]
    x = torch.where(mask.view(-1, 1, 1, 1), shifted, x)
    return x + 0.05 * torch.randn_like(x)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct, seen, loss_sum = 0, 0, 0.0
    for x, y in loader:
        logits = model(x)
        loss_sum += F.cross_entropy(logits, y, reduction="sum").item()
        correct += (logits.argmax(1) == y).sum().item()
        seen += y.size(0)
    return loss_sum / seen, correct / seen


def main():
    args = parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    digits = load_digits()
    X = digits.images.astype(np.float32)[:, None]
    y = digits.target.astype(np.int64)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.2, stratify=y, random_state=args.seed)
    X_tr, X_va, y_tr, y_va = train_test_split(X_tr, y_tr, test_size=0.15, stratify=y_tr, random_state=args.seed)
    mu, sd = X_tr.mean(), X_tr.std()

    def make_loader(a, b, shuffle):
        ds = TensorDataset(torch.from_numpy((a - mu) / sd), torch.from_numpy(b))
        return DataLoader(ds, batch_size=args.batch_size, shuffle=shuffle)

    train_loader = make_loader(X_tr, y_tr, True)
    val_loader = make_loader(X_va, y_va, False)
    test_loader = make_loader(X_te, y_te, False)

    model = TinyResNet(args.width)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs * len(train_loader))

    for epoch in range(1, args.epochs + 1):
        model.train()
        running, seen = 0.0, 0
        for x, y in train_loader:
            logits = model(augment(x))
            loss = F.cross_entropy(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            running += loss.item() * y.size(0)
            seen += y.size(0)
        val_loss, val_acc = evaluate(model, val_loader)
        print(f"[{epoch:02d}/{args.epochs}] train {running / seen:.4f} | val {val_loss:.4f} | val acc {val_acc:.4f}")

    test_loss, test_acc = evaluate(model, test_loader)
    print(f"test loss {test_loss:.4f} test acc {test_acc:.4f}")


if __name__ == "__main__":
    main()
