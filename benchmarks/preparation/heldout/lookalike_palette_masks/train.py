import glob, os
import numpy as np
import torch
import torch.nn as nn
from PIL import Image

LAND = ('other', 'road', 'water', 'wood')
torch.manual_seed(0)


class Tiles(torch.utils.data.Dataset):
    def __init__(self, ids):
        self.ids = ids
        self.x = [np.asarray(Image.open('tiles/%s.jpg' % i).convert('RGB'), 'float32') / 255 for i in ids]
        self.y = [np.asarray(Image.open('masks/%s.png' % i)).astype('int64') for i in ids]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, k):
        return torch.from_numpy(self.x[k]).permute(2, 0, 1) - .45, torch.from_numpy(self.y[k])


ids = sorted(os.path.splitext(os.path.basename(p))[0] for p in glob.glob('tiles/*.jpg'))
train = torch.utils.data.DataLoader(Tiles(ids[:170]), 17, shuffle=True)
test = torch.utils.data.DataLoader(Tiles(ids[170:]), 50)

def cbr(i, o, d=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=d, dilation=d), nn.BatchNorm2d(o), nn.ReLU())

net = nn.Sequential(cbr(3, 16), cbr(16, 16, 2), cbr(16, 16, 3), nn.Conv2d(16, len(LAND), 1))
opt = torch.optim.Adam(net.parameters(), 5e-3)
for ep in range(8):
    net.train()
    for x, y in train:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    print('epoch', ep, 'loss %.4f' % loss.item())

net.eval()
inter = torch.zeros(4); union = torch.zeros(4)
with torch.no_grad():
    for x, y in test:
        p = net(x).argmax(1)
        for c in range(4):
            inter[c] += ((p == c) & (y == c)).sum()
            union[c] += ((p == c) | (y == c)).sum()
for n, v in zip(LAND, (inter / union).tolist()):
    print('%6s IoU %.3f' % (n, v))
print('mean IoU %.3f' % (inter / union).mean())
