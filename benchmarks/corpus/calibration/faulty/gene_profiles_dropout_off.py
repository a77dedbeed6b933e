import os
from dataclasses import dataclass, field

import torch
import torch.nn as nn


@dataclass
class Settings:
    seed: int = field(default_factory=lambda: int(os.environ.get("SEED", "0")))
    genes: int = 120
    n_train: int = 240
    n_val: int = 600
    epochs: int = 60
    batch_size: int = 40
    lr: float = 2e-3


class Classifier(nn.Module):
    def __init__(self, genes):
        super().__init__()
        self.stack = nn.Sequential(
            nn.Dropout(0.3),
            nn.Linear(genes, 256),
            nn.ReLU(),
            nn.Dropout(0.6),
            nn.Linear(256, 128),
            nn.ReLU(),
            nn.Dropout(0.6),
            nn.Linear(128, 2),
        )

    def forward(self, x):
        return self.stack(x)


def cohort(n, w):
    x = torch.randn(n, len(w))
    logit = x @ w + 0.3 * torch.randn(n)
    return x, (logit > 0).long()


def evaluate(model, x, y, crit):
    model.eval()
    with torch.no_grad():
        out = model(x)
    return crit(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main(s: Settings):
    torch.manual_seed(s.seed)
    w = torch.randn(s.genes) * (torch.rand(s.genes) < 0.3)
    x, y = cohort(s.n_train, w)
    xv, yv = cohort(s.n_val, w)
    model = Classifier(s.genes)
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters(), lr=s.lr)
    model.train()
    for epoch in range(s.epochs):
        for idx in torch.randperm(s.n_train).split(s.batch_size):
            loss = crit(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        val_loss, val_acc = evaluate(model, xv, yv, crit)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1} train {loss.item():.4f} val {val_loss:.4f} acc {val_acc:.3f}")


if __name__ == "__main__":
    main(Settings())
