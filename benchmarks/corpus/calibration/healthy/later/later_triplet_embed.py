from __future__ import annotations

from typing import Iterator

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


class TripletDigits(Dataset):
    """Every item is an (anchor, positive, negative) triple drawn at random."""

    def __init__(self, x: np.ndarray, y: np.ndarray, length: int, seed: int = 0) -> None:
        self.x = torch.as_tensor(x, dtype=torch.float32)
        self.y = y
        self.length = length
        self.rng = np.random.default_rng(seed)
        self.by_class: dict[int, np.ndarray] = {c: np.where(y == c)[0] for c in np.unique(y)}

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, _: int) -> tuple[Tensor, Tensor, Tensor]:
        c_same, c_diff = self.rng.choice(len(self.by_class), size=2, replace=False)
        i, j = self.rng.choice(self.by_class[c_same], size=2, replace=False)
        k = self.rng.choice(self.by_class[c_diff])
        return self.x[i], self.x[j], self.x[k]


class EmbeddingNet(nn.Module):
    def __init__(self, d_in: int, d_hidden: int = 96, d_out: int = 8) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(d_in, d_hidden), nn.PReLU(), nn.Linear(d_hidden, d_hidden), nn.PReLU()
        )
        self.out = nn.Linear(d_hidden, d_out)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.normalize(self.out(self.body(x)), dim=1)


class TripletLoss(nn.Module):
    """Hinge on squared distances, summed over the triples that are still active."""

    def __init__(self, margin: float = 0.4) -> None:
        super().__init__()
        self.margin = margin

    def forward(self, a: Tensor, p: Tensor, n: Tensor) -> tuple[Tensor, float]:
        d_ap = (a - p).pow(2).sum(1)
        d_an = (a - n).pow(2).sum(1)
        hinge = torch.clamp(d_ap - d_an + self.margin, min=0)
        active = (hinge > 0).float()
        return hinge.sum() / active.sum().clamp(min=1.0), active.mean().item()


def batches(loader: DataLoader, steps: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    done = 0
    while True:
        for item in loader:
            if done == steps:
                return
            done += 1
            yield item


def knn_accuracy(net: nn.Module, xtr: np.ndarray, ytr: np.ndarray, xte: np.ndarray, yte: np.ndarray) -> float:
    net.eval()
    with torch.no_grad():
        etr = net(torch.as_tensor(xtr, dtype=torch.float32)).numpy()
        ete = net(torch.as_tensor(xte, dtype=torch.float32)).numpy()
    net.train()
    return KNeighborsClassifier(5).fit(etr, ytr).score(ete, yte)


def main(steps: int = 600, batch_size: int = 64, lr: float = 1e-3) -> None:
    torch.manual_seed(2)
    x, y = load_digits(return_X_y=True)
    x = (x - 8.0) / 8.0
    order = np.random.default_rng(2).permutation(len(x))
    x, y = x[order], y[order]
    xtr, ytr, xte, yte = x[:1200], y[:1200], x[1200:], y[1200:]

    loader = DataLoader(TripletDigits(xtr, ytr, length=6400), batch_size=batch_size)
    net = EmbeddingNet(64)
    criterion = TripletLoss()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=lr)
    ema: float | None = None

    for step, (anchor, positive, negative) in enumerate(batches(loader, steps), start=1):
        ea, ep, en = net(torch.cat([anchor, positive, negative])).chunk(3)
        loss, active = criterion(ea, ep, en)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema = loss.item() if ema is None else 0.95 * ema + 0.05 * loss.item()
        if step % 100 == 0:
            acc = knn_accuracy(net, xtr, ytr, xte, yte)
            print(f"step {step:4d}  loss(ema) {ema:.4f}  active {active:.2f}  knn acc {acc:.4f}")

    print("5-NN accuracy in embedding space:", round(knn_accuracy(net, xtr, ytr, xte, yte), 4))


if __name__ == "__main__":
    main()
