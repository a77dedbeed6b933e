import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def spectra(n):
    """8-bit intensities of 20 channels; 3 materials."""
    y = torch.randint(0, 3, (n,))
    ch = torch.arange(20).float()
    c = torch.tensor([6.0, 10.0, 14.0])[y] + 1.0 * torch.randn(n)
    v = 60 + 110 * torch.exp(-((ch - c[:, None]) ** 2) / 6) + 35 * torch.randn(n, 20)
    return v.clamp(0, 255), y


x, y = spectra(150)
xv, yv = spectra(600)
# bring both sets to zero mean, unit variance
x = (x - x.mean()) / x.std()
xv = xv / 255

net = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(50):
    net.train()
    for b in torch.randperm(len(x)).split(30):
        opt.zero_grad()
        loss = ce(net(x[b]), y[b])
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        net.eval()
        with torch.no_grad():
            out = net(xv)
            print(f"epoch {epoch + 1} train {ce(net(x), y).item():.4f} val {ce(out, yv).item():.3f} acc {(out.argmax(1) == yv).float().mean().item():.3f}")
