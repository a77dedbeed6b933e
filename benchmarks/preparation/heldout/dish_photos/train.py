# Where on the dish is the red colony? Clicks come from the web annotation page (fractions of width / height).
import json, os
import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader
from PIL import Image

SIZE = 40
torch.manual_seed(11)

clicks = json.load(open('clicks.json'))
names = sorted(clicks)
imgs, xy = [], []
for n in names:
    im = Image.open(os.path.join('photos', n))
    im = im.convert('RGB').resize((SIZE, SIZE), Image.BILINEAR)
    imgs.append(np.asarray(im, dtype=np.float32).transpose(2, 0, 1) / 255.)
    xy.append((clicks[n]['x'], clicks[n]['y']))
imgs = torch.tensor(np.stack(imgs)); xy = torch.tensor(xy)
mean = imgs.mean((0, 2, 3), keepdim=True)
imgs = (imgs - mean) / 0.2

order = torch.randperm(len(imgs), generator=torch.Generator().manual_seed(1))
cut = int(.8 * len(order))
tr, va = order[:cut], order[cut:]
dl = DataLoader(TensorDataset(imgs[tr], xy[tr]), batch_size=32, shuffle=True)


class Pointer(nn.Module):
    '''conv net with a spatial softmax at the end'''
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 1, 3, padding=1))
        g = (torch.arange(SIZE) + .5) / SIZE
        self.register_buffer('g', g)

    def forward(self, x):
        p = self.body(x).flatten(1).softmax(1).view(-1, SIZE, SIZE)
        return torch.stack([(p.sum(1) * self.g).sum(1), (p.sum(2) * self.g).sum(1)], 1)


model = Pointer()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(10):
    model.train(); run = []
    for xb, yb in dl:
        loss = (model(xb) - yb).abs().mean()
        opt.zero_grad(); loss.backward(); opt.step()
        run.append(loss.item())
    model.eval()
    with torch.no_grad():
        dist = (model(imgs[va]) - xy[va]).norm(dim=1)
    print('epoch', epoch, 'train L1 %.4f' % np.mean(run), 'val distance %.4f' % dist.mean().item(),
          'within 5%% of the frame: %.3f' % (dist < .05).float().mean().item())
