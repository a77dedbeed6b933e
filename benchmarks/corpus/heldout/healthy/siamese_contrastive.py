# Siamese net: do two 1-D strokes belong to the same character?
import os, math
import numpy as np
import torch
from torch import nn

s = int(os.environ.get('SEED', '0'))
torch.manual_seed(s); np.random.seed(s)

def stroke(k):
    t = np.linspace(0, 1, 30)
    shift, amp = np.random.uniform(-.1, .1), np.random.uniform(.8, 1.2)
    f = [lambda t: np.sin(2*math.pi*t), lambda t: 2*t-1, lambda t: np.cos(4*math.pi*t),
         lambda t: np.where(t > .5, 1., -1.), lambda t: 4*(t-.5)**2-.5][k]
    return amp*f(t+shift) + .2*np.random.randn(30)

def pairs(n):
    a = np.random.randint(0, 5, n)
    same = np.random.rand(n) < .5
    b = np.where(same, a, (a + np.random.randint(1, 5, n)) % 5)
    A = np.stack([stroke(k) for k in a]); B = np.stack([stroke(k) for k in b])
    return (torch.tensor(A, dtype=torch.float32), torch.tensor(B, dtype=torch.float32), torch.tensor(same, dtype=torch.float32))

class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(8, 16, 3, padding=1), nn.ReLU())
        self.fc = nn.Linear(16*15, 8)
    def forward(self, x):
        return self.fc(self.conv(x[:, None]).flatten(1))

def contrastive(za, zb, same, margin=1.0):
    d = (za - zb).pow(2).sum(1).add(1e-8).sqrt()
    return (same*d**2 + (1-same)*(margin-d).clamp(min=0)**2).mean(), d

A, B, S = pairs(1200)
At, Bt, St = pairs(400)
net = Tower()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for ep in range(10):
    net.train()
    for i in torch.randperm(1200).split(40):
        loss, _ = contrastive(net(A[i]), net(B[i]), S[i])
        opt.zero_grad(); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad():
        tl, d = contrastive(net(At), net(Bt), St)
    print('ep %d  loss %.4f  test loss %.4f  test acc %.3f' % (ep, loss.item(), tl, ((d < .5).float() == St).float().mean()))
