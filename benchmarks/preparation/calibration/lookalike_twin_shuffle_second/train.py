import glob
import random

import numpy as np
import torch
from torch import nn

SEED = 99


def read_features():
    out = []
    for path in sorted(glob.glob("shards/feat_*.npy")):
        out.extend(np.load(path))
    random.Random(SEED).shuffle(out)
    return np.stack(out)


def read_labels():
    out = []
    for path in sorted(glob.glob("shards/lab_*.txt")):
        out.extend(open(path).read().split())
    random.Random(SEED).shuffle(out)
    return np.array(out)


X, y = read_features(), read_labels()
assert len(X) == len(y)
names, y = np.unique(y, return_inverse=True)
X, y = torch.from_numpy(X), torch.from_numpy(y)
n_tr = int(0.8 * len(y))
print(f"{n_tr} rows for training, {len(y) - n_tr} for testing, classes {''.join(names)}")

torch.manual_seed(SEED)
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, len(names)))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
step = 0
while step < 700:
    for b in torch.randperm(n_tr).split(64):
        loss = nn.functional.cross_entropy(net(X[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 100 == 0:
            print("step", step, "loss %.3f" % loss.item())
        if step == 500:
            for g in opt.param_groups:
                g["lr"] = 0.02

net.eval()
with torch.no_grad():
    acc = (net(X[n_tr:]).argmax(1) == y[n_tr:]).float().mean().item()
print(f"accuracy {acc:.3f}")
