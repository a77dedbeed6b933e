import argparse
from typing import List, Tuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

CLASSES = ["background", "disc", "square", "cross"]


class ShapesDataset(Dataset):
    def __init__(self, n: int, size: int, seed: int):
        rng = np.random.default_rng(seed)
        self.items: List[Tuple[Tensor, Tensor]] = [self._draw(rng, size) for _ in range(n)]

    @staticmethod
    def _draw(rng, size):
        yy, xx = np.mgrid[:size, :size]
        img = rng.normal(0.0, 0.15, (3, size, size))
        mask = np.zeros((size, size), dtype=np.int64)
        for _ in range(rng.integers(1, 4)):
            k = int(rng.integers(1, 4))
            cy, cx = rng.integers(5, size - 5, 2)
            r = int(rng.integers(3, 6))
            dy, dx = np.abs(yy - cy), np.abs(xx - cx)
            if k == 1:
                m = dy ** 2 + dx ** 2 <= r * r
            elif k == 2:
                m = (dy <= r) & (dx <= r)
            else:
                m = ((dy <= 1) & (dx <= r)) | ((dx <= 1) & (dy <= r))
            colour = rng.uniform(0.3, 0.6, 3)
            colour[k - 1] += 0.4
            img[:, m] = colour[:, None] + rng.normal(0, 0.15, (3, int(m.sum())))
            mask[m] = k
        return torch.tensor(img, dtype=torch.float32), torch.from_numpy(mask)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def block(i: int, o: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self, n_classes: int, w: int = 12):
        super().__init__()
        self.d1 = block(3, w)
        self.d2 = block(w, 2 * w)
        self.mid = block(2 * w, 2 * w)
        self.up = nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.u1 = block(2 * w, w)
        self.head = nn.Conv2d(w, n_classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = self.d1(x)
        b = self.mid(self.d2(F.max_pool2d(a, 2)))
        return self.head(self.u1(torch.cat([a, self.up(b)], dim=1)))


class PixelLoss(nn.Module):
    """Weighted cross entropy plus soft dice, over a flat list of pixels."""

    def __init__(self, weights: Tensor, dice: float = 0.5):
        super().__init__()
        self.register_buffer("weights", weights)
        self.dice = dice

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        c = logits.size(1)
        flat = logits.permute(0, 2, 3, 1).reshape(-1, c)
        target = target.reshape(-1)
        ce = F.cross_entropy(flat, target, weight=self.weights)
        prob = flat.softmax(-1)
        hot = F.one_hot(target, c).to(prob.dtype)
        overlap = 2 * (prob * hot).sum(0) + 1
        dice = 1 - (overlap / (prob.sum(0) + hot.sum(0) + 1)).mean()
        return ce + self.dice * dice


@torch.no_grad()
def mean_iou(model: nn.Module, loader: DataLoader) -> Tuple[float, List[float]]:
    model.eval()
    n = len(CLASSES)
    conf = torch.zeros(n, n)
    for x, y in loader:
        pred = model(x).argmax(1)
        conf += torch.bincount((y * n + pred).flatten(), minlength=n * n).view(n, n)
    tp = conf.diag()
    iou = tp / (conf.sum(0) + conf.sum(1) - tp).clamp(min=1)
    return iou.mean().item(), iou.tolist()


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--size", type=int, default=24)
    ap.add_argument("--n-train", type=int, default=320)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--bs", type=int, default=16)
    ap.add_argument("--peak-lr", type=float, default=0.3)
    args = ap.parse_args(argv)

    torch.manual_seed(2)
    train = DataLoader(ShapesDataset(args.n_train, args.size, 1), batch_size=args.bs, shuffle=True)
    val = DataLoader(ShapesDataset(150, args.size, 2), batch_size=50)

    model = TinyUNet(len(CLASSES))
    loss_fn = PixelLoss(torch.tensor([0.4, 1.0, 1.0, 1.5]))
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.peak_lr, epochs=args.epochs,
                                                steps_per_epoch=len(train))
    for epoch in range(args.epochs):
        model.train()
        tot = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            sched.step()
            tot += loss.item()
        miou, _ = mean_iou(model, val)
        print(f"epoch {epoch + 1}: loss {tot / len(train):.4f} val mIoU {miou:.3f}")

    miou, per_class = mean_iou(model, val)
    print("  ".join(f"{c} {v:.3f}" for c, v in zip(CLASSES, per_class)))
    print(f"final mIoU {miou:.3f}")


if __name__ == "__main__":
    main()
