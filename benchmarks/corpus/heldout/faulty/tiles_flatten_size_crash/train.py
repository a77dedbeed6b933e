import os

import torch
import torch.nn.functional as F
from net import build_cnn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def tiles(n, size=20):
    """Coloured square in one of four quadrants; label = quadrant if reddish else quadrant + 4."""
    y = torch.randint(0, 8, (n,))
    x = 0.25 * torch.randn(n, 3, size, size)
    for i, k in enumerate(y.tolist()):
        q = k % 4
        r0, c0 = (q // 2) * 10 + int(torch.randint(0, 5, ())), (q % 2) * 10 + int(torch.randint(0, 5, ()))
        x[i, 0 if k < 4 else 2, r0:r0 + 5, c0:c0 + 5] += 1.0
    return x, y


x, y = tiles(900)
xt, yt = tiles(300)
model = build_cnn(8)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(8):
    for b in torch.randperm(len(x)).split(32):
        opt.zero_grad()
        loss = F.cross_entropy(model(x[b]), y[b])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(xt).argmax(1) == yt).float().mean().item()
    model.train()
    print(f"epoch {epoch} loss {loss.item():.3f} test acc {acc:.3f}")
