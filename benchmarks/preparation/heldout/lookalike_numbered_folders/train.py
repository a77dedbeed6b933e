# reads the hour off a one-handed clock; dials/<hour>/*.png
import os
import math
import numpy as np
import torch
from torch import nn
from PIL import Image

torch.manual_seed(12)
root = 'dials'
classes = sorted(d for d in os.listdir(root) if os.path.isdir(os.path.join(root, d)))
print('classes:', classes)

paths, index = [], []
for i, c in enumerate(classes):
    for f in sorted(os.listdir(os.path.join(root, c))):
        paths.append(os.path.join(root, c, f)); index.append(i)
index = np.array(index)
hours = np.array([int(c) for c in classes])            # class index -> hour on the dial

X = torch.tensor(np.stack([np.asarray(Image.open(p), dtype=np.float32) for p in paths]))[:, None] / 127.5 - 1.3
y = torch.tensor(index)
order = torch.randperm(len(X))
tr, te = order[:450], order[450:]

net = nn.Sequential(nn.Conv2d(1, 12, 5, 2, 2), nn.ReLU(), nn.Conv2d(12, 24, 3, 2, 1), nn.ReLU(),
                    nn.Conv2d(24, 24, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 25, len(classes)))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(25):
    for b in tr[torch.randperm(len(tr))].split(30):
        loss = nn.functional.cross_entropy(net(X[b]), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            k = net(X[te]).argmax(1).numpy()
        said, true = hours[k], hours[index[te.numpy()]]
        off = np.abs((said - true + 6) % 12 - 6)
        print('epoch %2d loss %.3f  right hour %.3f  mean error %.2f h' % (epoch + 1, loss.item(), (off == 0).mean(), off.mean()))

for h in range(1, 13):
    m = true == h
    print('  %2d o\'clock: %d dials, right %.2f' % (h, m.sum(), (off[m] == 0).mean()))
