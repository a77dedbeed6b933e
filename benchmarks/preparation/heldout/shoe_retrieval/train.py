import cv2
import numpy as np
import polars as pl
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(15)
rng = np.random.default_rng(15)

cat = pl.read_csv("catalogue.csv")


def load(part):
    sub = cat.filter(pl.col("part") == part)
    x = np.stack([cv2.imread("catalogue/" + p)[:, :, ::-1] for p in sub["picture"]])
    _, ids = np.unique(sub["model"].to_numpy(), return_inverse=True)
    return torch.from_numpy(x.astype(np.float32)).permute(0, 3, 1, 2) / 127.5 - 1, torch.from_numpy(ids)


class Embedder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.proj = nn.Linear(512, dim)

    def forward(self, x):
        return F.normalize(self.proj(self.trunk(x).flatten(1)), dim=1)


def pair_batches(ids, n_models=20, per=3):
    groups = [np.flatnonzero(ids.numpy() == k) for k in range(int(ids.max()) + 1)]
    order = rng.permutation(len(groups))
    for i in range(0, len(order), n_models):
        yield np.concatenate([rng.choice(groups[k], per, replace=False) for k in order[i:i + n_models]])


def contrastive(z, ids, temp=0.15):
    sim = z @ z.T / temp
    eye = torch.eye(len(z), dtype=torch.bool)
    same = (ids[:, None] == ids[None]) & ~eye
    logp = sim - torch.logsumexp(sim.masked_fill(eye, -1e9), 1, keepdim=True)
    return -(logp * same).sum(1).div(same.sum(1)).mean()


@torch.no_grad()
def recall_at(net, x, ids, ks=(1, 2, 4)):
    """share of pictures with a picture of the same model among the k nearest"""
    net.eval()
    z = net(x)
    dist = torch.cdist(z, z)
    near = dist.argsort(1)
    return {k: (ids[near[:, :k]] == ids[:, None]).any(1).float().mean().item() for k in ks}


x, ids = load("train")
xt, idt = load("test")
print(f"{len(x)} pictures of {len(ids.unique())} models for training, {len(xt)} of {len(idt.unique())} new models for testing")
net = Embedder()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(24):
    net.train()
    losses = []
    for b in pair_batches(ids):
        xb = x[b]
        if rng.random() < 0.5:
            xb = xb.flip(3)
        loss = contrastive(net(xb), ids[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 6 == 5:
        r = recall_at(net, xt, idt)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}  " + "  ".join(f"R@{k} {v:.3f}" for k, v in r.items()))
final = recall_at(net, xt, idt)
print(f"recall@1 on new models: {final[1]:.3f}")
