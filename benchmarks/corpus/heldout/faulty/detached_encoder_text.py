import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
V = 50


def phrases(n, T=12):
    """Label: is token A (0..4) before token B (5..9)?"""
    s = torch.randint(10, V, (n, T))
    pos = torch.stack([torch.randperm(T)[:2] for _ in range(n)])
    r = torch.arange(n)
    s[r, pos[:, 0]] = torch.randint(0, 5, (n,))
    s[r, pos[:, 1]] = torch.randint(5, 10, (n,))
    return s, (pos[:, 0] < pos[:, 1]).long()


class Encoder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.emb = nn.Embedding(V, dim)
        self.gru = nn.GRU(dim, 32, batch_first=True)

    def forward(self, s):
        return self.gru(self.emb(s))[1][-1]


class OrderModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, s):
        code = self.encoder(s).detach()
        return self.decoder(code)


x, y = phrases(1600)
xv, yv = phrases(400)
model = OrderModel()
opt = torch.optim.Adam(model.parameters(), lr=6e-3)
for ep in range(10):
    model.train()
    tot = 0.0
    for idx in torch.randperm(len(x)).split(40):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {ep} loss {tot / 40:.4f} acc {acc:.3f}")
