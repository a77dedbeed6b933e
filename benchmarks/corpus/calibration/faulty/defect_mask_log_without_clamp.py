import os
import torch
from torch import nn


class MaskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1)
        )

    def forward(self, x):
        return torch.sigmoid(self.net(x)).squeeze(1)


def pixel_loss(p, target):
    return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()


def plates(n, size=16):
    mask = torch.zeros(n, size, size)
    for i in range(n):
        r, c = [int(v) for v in torch.randint(1, size - 6, (2,))]
        mask[i, r : r + 5, c : c + 5] = 1
    img = mask * 12.0 + 0.5 * torch.randn(n, size, size)
    return img.unsqueeze(1), mask


torch.manual_seed(int(os.environ.get("SEED", "0")))
images, masks = plates(240)
val_images, val_masks = plates(60)
net = MaskNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(12):
    net.train()
    for idx in torch.randperm(len(images)).split(16):
        opt.zero_grad()
        loss = pixel_loss(net(images[idx]), masks[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        p = net(val_images) > 0.5
        inter = (p & (val_masks > 0)).sum().item()
        union = (p | (val_masks > 0)).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val iou {inter / max(union, 1):.3f}")
