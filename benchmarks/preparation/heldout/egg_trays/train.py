# count the eggs on a tray: folder = number of eggs
import os, random
import imageio.v3 as iio
import numpy as np
import torch, torch.nn as nn

ROOT = 'trays'
random.seed(1); torch.manual_seed(1)

folders = sorted(os.listdir(ROOT))
samples = []
for idx, folder in enumerate(folders):
    for fn in sorted(os.listdir(os.path.join(ROOT, folder))):
        samples.append((os.path.join(ROOT, folder, fn), idx + 1))
print(len(samples), 'trays, counts from', min(c for _, c in samples), 'to', max(c for _, c in samples))

random.shuffle(samples)
n_val = len(samples) // 5
val, train = samples[:n_val], samples[n_val:]

def to_tensors(part):
    X = np.stack([iio.imread(p) for p, _ in part]).astype('float32') / 255
    y = np.array([c for _, c in part], dtype='float32')
    return torch.tensor(X)[:, None] - 0.5, torch.tensor(y)

Xt, yt = to_tensors(train)
Xv, yv = to_tensors(val)

net = nn.Sequential(
    nn.Conv2d(1, 10, 5, 2, 2), nn.ReLU(),
    nn.Conv2d(10, 20, 3, 2, 1), nn.ReLU(),
    nn.Conv2d(20, 20, 3, 1, 1), nn.ReLU(),
    nn.AvgPool2d(3), nn.Flatten(), nn.Linear(320, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
best = 99
for ep in range(1, 26):
    net.train()
    for ix in torch.randperm(len(Xt)).split(32):
        l = nn.functional.smooth_l1_loss(net(Xt[ix])[:, 0], yt[ix])
        opt.zero_grad(); l.backward(); opt.step()
    if ep % 5 == 0:
        net.eval()
        with torch.no_grad():
            mae = (net(Xv)[:, 0] - yv).abs().mean().item()
        print('epoch %d  loss %.3f  val MAE %.2f eggs' % (ep, l.item(), mae))
