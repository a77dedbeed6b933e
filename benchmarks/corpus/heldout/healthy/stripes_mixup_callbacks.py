"""Trainer with callbacks and mixup, on small two-channel pattern images."""
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Callback:
    def on_epoch_end(self, trainer, logs): ...

    def on_train_end(self, trainer): ...


class PrintLogs(Callback):
    def __init__(self, every=1):
        self.every = every

    def on_epoch_end(self, trainer, logs):
        if trainer.epoch % self.every == 0:
            print(f"epoch {trainer.epoch:3d} | " + " | ".join(f"{k} {v:.4f}" for k, v in logs.items()))


class KeepBest(Callback):
    def __init__(self, monitor):
        self.monitor, self.best, self.weights = monitor, -1.0, None

    def on_epoch_end(self, trainer, logs):
        if logs[self.monitor] > self.best:
            self.best = logs[self.monitor]
            self.weights = {k: v.clone() for k, v in trainer.model.state_dict().items()}

    def on_train_end(self, trainer):
        trainer.model.load_state_dict(self.weights)
        print("restored best weights,", self.monitor, round(self.best, 4))


class Trainer:
    def __init__(self, model, optimizer, train_loader, val_loader, callbacks=(), alpha=0.2):
        self.model, self.optimizer = model, optimizer
        self.train_loader, self.val_loader = train_loader, val_loader
        self.callbacks = list(callbacks)
        self.beta = torch.distributions.Beta(alpha, alpha)
        self.epoch = 0

    def training_step(self, x, y):
        lam = self.beta.sample().item()
        perm = torch.randperm(x.size(0))
        logits = self.model(lam * x + (1 - lam) * x[perm])
        return lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[perm])

    def fit(self, epochs):
        for self.epoch in range(1, epochs + 1):
            self.model.train()
            total = 0.0
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                loss = self.training_step(x, y)
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            logs = {"train_loss": total / len(self.train_loader), **self.validate()}
            for cb in self.callbacks:
                cb.on_epoch_end(self, logs)
        for cb in self.callbacks:
            cb.on_train_end(self)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        loss, hit, n = 0.0, 0, 0
        for x, y in self.val_loader:
            out = self.model(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            hit += (out.argmax(1) == y).sum().item()
            n += len(y)
        return {"val_loss": loss / n, "val_acc": hit / n}


def patterns(n):
    y = torch.randint(0, 6, (n,))
    base = torch.zeros(6, 2, 12, 12)
    base[0, 0, ::3] = 1
    base[1, 0, :, ::3] = 1
    base[2, 1, ::4] = 1
    base[3, 1, :, ::4] = 1
    base[4, 0, ::3, ::3] = 1.5
    base[5, 1, ::2, ::2] = 1
    x = torch.stack([torch.roll(base[k], tuple(torch.randint(0, 4, (2,)).tolist()), (1, 2)) for k in y])
    x = x + 0.6 * torch.randn_like(x)
    return TensorDataset((x - 0.15) / 0.7, y)


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    started = time.time()
    net = nn.Sequential(
        nn.Conv2d(2, 16, 3, padding=1), nn.BatchNorm2d(16), nn.SiLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.SiLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 6),
    )
    trainer = Trainer(
        net,
        torch.optim.Adam(net.parameters(), lr=2e-3),
        DataLoader(patterns(1200), 48, shuffle=True),
        DataLoader(patterns(400), 200),
        [PrintLogs(every=2), KeepBest("val_acc")],
    )
    trainer.fit(12)
    print("final", trainer.validate(), f"{time.time() - started:.1f}s")
