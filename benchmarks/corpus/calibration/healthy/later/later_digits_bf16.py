import argparse
import math
import random

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    ap = argparse.ArgumentParser(description="digits CNN, bf16 autocast, gradient accumulation")
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--micro_batch", type=int, default=16)
    ap.add_argument("--accum", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--momentum", type=float, default=0.9)
    ap.add_argument("--weight_decay", type=float, default=5e-4)
    ap.add_argument("--warmup", type=int, default=40)
    ap.add_argument("--seed", type=int, default=2024)
    return ap.parse_args()


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def load_data(micro_batch, seed):
    d = load_digits()
    x = d.images.astype(np.float32)[:, None] / 16.0
    x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, train_size=1280, stratify=d.target, random_state=seed)
    mu, sd = x_tr.mean(), x_tr.std()
    x_tr, x_te = (x_tr - mu) / sd, (x_te - mu) / sd
    tr = TensorDataset(torch.from_numpy(x_tr), torch.from_numpy(y_tr))
    te = TensorDataset(torch.from_numpy(x_te), torch.from_numpy(y_te))
    return DataLoader(tr, micro_batch, shuffle=True, drop_last=True), DataLoader(te, 128)


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(32 * 2 * 2, 10),
    )


def warmup_cosine(warmup, total):
    def fn(step):
        if step < warmup:
            return (step + 1) / warmup
        progress = (step - warmup) / max(1, total - warmup)
        return 0.5 * (1 + math.cos(math.pi * progress))
    return fn


def evaluate(model, loader, criterion):
    model.eval()
    loss_sum, correct, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(x)
            out = out.float()
            loss_sum += criterion(out, y).item() * y.size(0)
            correct += (out.argmax(1) == y).sum().item()
            n += y.size(0)
    return loss_sum / n, correct / n


def main():
    args = get_args()
    set_seed(args.seed)
    train_loader, test_loader = load_data(args.micro_batch, args.seed)
    model = build_model()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum,
                                weight_decay=args.weight_decay, nesterov=True)
    assert len(train_loader) % args.accum == 0
    total_steps = args.epochs * len(train_loader) // args.accum
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup_cosine(args.warmup, total_steps))

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        optimizer.zero_grad()
        for i, (x, y) in enumerate(train_loader):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(x)
            loss = criterion(out.float(), y)
            (loss / args.accum).backward()
            running += loss.item()
            if (i + 1) % args.accum == 0:
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        te_loss, te_acc = evaluate(model, test_loader, criterion)
        print(f"epoch {epoch + 1:2d}/{args.epochs} lr {scheduler.get_last_lr()[0]:.4f} "
              f"train {running / len(train_loader):.4f} test {te_loss:.4f} acc {te_acc:.4f}")


if __name__ == "__main__":
    main()
