import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def clips(n):
    """Image patch + audio vector; label needs both (3 x 2 classes)."""
    v, a = torch.randint(0, 3, (n,)), torch.randint(0, 2, (n,))
    img = 0.6 * torch.randn(n, 1, 8, 8)
    for i, k in enumerate(v.tolist()):
        img[i, 0, :, 1 + 2 * k] += 1.2
    aud = torch.randn(n, 12)
    aud[:, 0] = torch.where(a == 1, aud[:, 1].sign() * aud[:, 0].abs(), -aud[:, 1].sign() * aud[:, 0].abs())
    return img, aud, v * 2 + a


class AVNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.video = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 24), nn.ReLU())
        self.audio = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.fuse = nn.Linear(48, 6)

    def forward(self, img, aud):
        v = self.video(img)
        a = self.audio(aud)
        both = torch.cat([v, v], dim=1)
        return self.fuse(both)


img, aud, y = clips(1600)
img_t, aud_t, y_t = clips(400)
model = AVNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
crit = nn.CrossEntropyLoss()
for epoch in range(10):
    model.train()
    s = 0.0
    for b in torch.randperm(len(y)).split(40):
        opt.zero_grad()
        loss = crit(model(img[b], aud[b]), y[b])
        loss.backward()
        opt.step()
        s += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(img_t, aud_t).argmax(1) == y_t).float().mean().item()
    print(f"epoch {epoch} loss {s / 40:.3f} test acc {acc:.3f}")
