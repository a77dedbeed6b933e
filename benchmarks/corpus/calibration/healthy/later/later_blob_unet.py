"""
Tiny U-Net finds small bright blobs in noisy 24x24 images.
1-2 % of the pixels are foreground and most images are empty, hence Dice + focal loss and a weighted sampler.
Bottleneck runs under activation checkpointing; SGDR warm restarts.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

SIZE = 24


class Blobs(Dataset):
    def __init__(self, n, seed, p_blob=0.3):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
        self.x = 0.35 * torch.randn(n, 1, SIZE, SIZE, generator=g)
        self.y = torch.zeros(n, 1, SIZE, SIZE)
        # everything gets a smooth stripe as a distractor
        ph = torch.rand(n, 2, generator=g) * 6.28
        for i in range(n):
            self.x[i, 0] += 0.5 * torch.sin(0.4 * xx * torch.cos(ph[i, 0]) + 0.4 * yy * torch.sin(ph[i, 0]) + ph[i, 1])
            if torch.rand((), generator=g) < p_blob:
                c = 4 + (SIZE - 8) * torch.rand(2, generator=g)
                r = 2.0 + 1.5 * torch.rand((), generator=g)
                m = ((yy - c[0]) ** 2 + (xx - c[1]) ** 2) <= r ** 2
                self.x[i, 0] += 1.0 * m
                self.y[i, 0] = m.float()
        self.has_blob = self.y.flatten(1).any(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.GroupNorm(4, o), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.d1 = conv(1, c)
        self.d2 = conv(c, 2 * c)
        self.mid = nn.Sequential(conv(2 * c, 4 * c), conv(4 * c, 2 * c))
        self.u2 = conv(4 * c, c)
        self.u1 = conv(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1)
        nn.init.constant_(self.out.bias, -4.0)        # prior: foreground is rare (RetinaNet trick)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        z = F.max_pool2d(b, 2)
        z = checkpoint(self.mid, z, use_reentrant=False)
        z = self.u2(torch.cat([F.interpolate(z, scale_factor=2), b], 1))
        z = self.u1(torch.cat([F.interpolate(z, scale_factor=2), a], 1))
        return self.out(z)


def focal_loss(logit, y, gamma=2.0, alpha=0.75):
    ce = F.binary_cross_entropy_with_logits(logit, y, reduction="none")
    p = torch.sigmoid(logit)
    pt = p * y + (1 - p) * (1 - y)
    at = alpha * y + (1 - alpha) * (1 - y)
    return (at * (1 - pt) ** gamma * ce).mean()


def dice_loss(logit, y, eps=1.0):
    """batch dice - per-image dice is meaningless for the empty ones"""
    p = torch.sigmoid(logit)
    return 1 - (2 * (p * y).sum() + eps) / (p.sum() + y.sum() + eps)


@torch.no_grad()
def evaluate(net, ds):
    net.eval()
    p = torch.cat([net(x) for x, _ in DataLoader(ds, batch_size=100)]) > 0
    t = ds.y > 0
    inter, union = (p & t).sum().item(), (p | t).sum().item()
    false_alarm = p[~ds.has_blob].flatten(1).any(1).float().mean().item()
    return inter / union, 2 * inter / (p.sum() + t.sum()).item(), false_alarm


def main():
    torch.manual_seed(6)
    train, test = Blobs(500, seed=1), Blobs(300, seed=2)
    print(f"foreground pixels {train.y.mean():.4f}, images with a blob {train.has_blob.float().mean():.2f}")
    w = torch.where(train.has_blob, 1 / train.has_blob.float().mean(), 1 / (~train.has_blob).float().mean())
    sampler = WeightedRandomSampler(w, num_samples=320, replacement=True)
    loader = DataLoader(train, batch_size=32, sampler=sampler, num_workers=2, persistent_workers=True)

    net = UNet()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2, eta_min=1e-5)

    # brightness threshold, chosen on the training images
    best_thr = max((0.5 + 0.1 * k for k in range(20)),
                   key=lambda t: (2 * ((train.x > t) & (train.y > 0)).sum() / ((train.x > t).sum() + train.y.sum())).item())
    pt = test.x > best_thr
    print(f"threshold baseline dice {2 * (pt & (test.y > 0)).sum().item() / (pt.sum() + test.y.sum()).item():.3f}; "
          f"all-foreground dice {2 * test.y.sum().item() / (test.y.numel() + test.y.sum().item()):.3f}")

    for epoch in range(9):
        net.train()
        f_sum = d_sum = 0.0
        for i, (x, y) in enumerate(loader):
            logit = net(x)
            f, d = focal_loss(logit, y), dice_loss(logit, y)
            loss = 20 * f + d
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step(epoch + (i + 1) / len(loader))
            f_sum += f.item()
            d_sum += d.item()
        iou, dice, fa = evaluate(net, test)
        print(f"epoch {epoch + 1} focal {f_sum / len(loader):.5f} dice loss {d_sum / len(loader):.4f} | "
              f"test IoU {iou:.3f} dice {dice:.3f} false alarms {fa:.3f} lr {opt.param_groups[0]['lr']:.1e}", flush=True)


if __name__ == "__main__":
    main()
