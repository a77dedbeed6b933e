"""Segment bright blobs ("cells") from background with a two-level U-Net; BCE + soft Dice."""
import os
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Config:
    size: int = 32
    n_train: int = 160
    n_val: int = 40
    batch: int = 16
    epochs: int = 10
    lr: float = 5e-3
    width: int = 8
    seed: int = int(os.environ.get("SEED", "0"))


def render(n: int, size: int) -> tuple[Tensor, Tensor]:
    g = torch.arange(size).float()
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    imgs, masks = [], []
    for _ in range(n):
        mask = torch.zeros(size, size)
        for _ in range(int(torch.randint(2, 6, ()))):
            cy, cx = torch.rand(2) * (size - 8) + 4
            ry, rx = torch.rand(2) * 3 + 2.5
            mask = torch.maximum(mask, (((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1).float())
        shade = (xx / size) * torch.rand(()) * 0.8
        imgs.append(mask * 0.8 + shade + 0.35 * torch.randn(size, size))
        masks.append(mask)
    x = torch.stack(imgs).unsqueeze(1)
    return (x - 0.5) / 0.6, torch.stack(masks).unsqueeze(1)


def double_conv(i: int, o: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
        nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
    )


class UNet(nn.Module):
    def __init__(self, w: int):
        super().__init__()
        self.d1, self.d2, self.mid = double_conv(1, w), double_conv(w, 2 * w), double_conv(2 * w, 4 * w)
        self.up2 = nn.ConvTranspose2d(4 * w, 2 * w, 2, stride=2)
        self.u2 = double_conv(4 * w, 2 * w)
        self.up1 = nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.u1 = double_conv(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x: Tensor) -> Tensor:
        a = self.d1(x)
        b = self.d2(self.pool(a))
        c = self.mid(self.pool(b))
        y = self.u2(torch.cat([self.up2(c), b], 1))
        y = self.u1(torch.cat([self.up1(y), a], 1))
        return self.out(y)


def dice_loss(logits: Tensor, target: Tensor, eps: float = 1.0) -> Tensor:
    p = torch.sigmoid(logits)
    inter = (p * target).sum((1, 2, 3))
    return (1 - (2 * inter + eps) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


def iou(logits: Tensor, target: Tensor) -> float:
    p = logits > 0
    t = target > 0.5
    return ((p & t).sum() / (p | t).sum()).item()


def main(cfg: Config = Config()) -> None:
    torch.manual_seed(cfg.seed)
    xt, mt = render(cfg.n_train, cfg.size)
    xv, mv = render(cfg.n_val, cfg.size)
    net = UNet(cfg.width)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(cfg.epochs):
        net.train()
        for ix in torch.randperm(cfg.n_train).split(cfg.batch):
            logits = net(xt[ix])
            loss = bce(logits, mt[ix]) + dice_loss(logits, mt[ix])
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            print(f"epoch {epoch + 1} loss {loss.item():.3f} val IoU {iou(net(xv), mv):.3f}")


if __name__ == "__main__":
    main()
