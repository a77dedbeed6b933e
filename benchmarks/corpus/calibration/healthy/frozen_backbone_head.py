import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))
SIDE = 10


def pattern_images(n, n_kinds=6):
    y = torch.randint(0, n_kinds, (n,))
    rows = torch.arange(SIDE).view(1, SIDE, 1).float()
    cols = torch.arange(SIDE).view(1, 1, SIDE).float()
    freq = torch.tensor([0.7, 1.4, 0.7, 1.4, 0.7, 1.4])[y].view(-1, 1, 1)
    ax = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.7, 0.7])[y].view(-1, 1, 1)
    ay = torch.tensor([0.0, 0.0, 1.0, 1.0, 0.7, 0.7])[y].view(-1, 1, 1)
    phase = torch.rand(n, 1, 1) * 6.28
    img = torch.sin(freq * (ax * rows + ay * cols) + phase) + 0.5 * torch.randn(n, SIDE, SIDE)
    return img.unsqueeze(1), y


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.b1 = nn.BatchNorm2d(16)
        self.c2 = nn.Conv2d(16, 24, 3, padding=1)
        self.b2 = nn.BatchNorm2d(24)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        x = F.relu(self.b2(self.c2(x)))
        return x.mean(dim=(2, 3))


# stage 1: learn features on the six-kind task
backbone = Backbone()
pre_head = nn.Linear(24, 6)
x_src, y_src = pattern_images(1200)
opt = torch.optim.Adam(list(backbone.parameters()) + list(pre_head.parameters()), lr=4e-3)
for ep in range(4):
    for idx in torch.randperm(len(x_src)).split(48):
        loss = F.cross_entropy(pre_head(backbone(x_src[idx])), y_src[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"pretrain {ep} loss {loss.item():.3f}")

# stage 2: coarse vs fine, only a new head is trained
for p in backbone.parameters():
    p.requires_grad_(False)
backbone.eval()
x_tr, k_tr = pattern_images(600)
x_te, k_te = pattern_images(400)
y_tr, y_te = k_tr % 2, k_te % 2
head = nn.Linear(24, 2)
head_opt = torch.optim.Adam(head.parameters(), lr=0.02)
for ep in range(10):
    head.train()
    for idx in torch.randperm(len(x_tr)).split(40):
        loss = F.cross_entropy(head(backbone(x_tr[idx])), y_tr[idx])
        head_opt.zero_grad()
        loss.backward()
        head_opt.step()
head.eval()
with torch.no_grad():
    acc = (head(backbone(x_te)).argmax(1) == y_te).float().mean()
print(f"head loss {loss.item():.3f}  transfer accuracy {acc:.3f}")
