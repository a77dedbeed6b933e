import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", 0)))
N_USERS, N_ITEMS, DIM = 120, 80, 8
g = torch.Generator().manual_seed(4)
U, V = torch.randn(N_USERS, 4, generator=g), torch.randn(N_ITEMS, 4, generator=g)
users = torch.randint(0, N_USERS, (6000,), generator=g)
items = torch.randint(0, N_ITEMS, (6000,), generator=g)
ratings = (3 + 0.6 * (U[users] * V[items]).sum(1) + 0.2 * torch.randn(6000, generator=g)).clamp(1, 5)


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USERS, DIM)
        self.item = nn.Embedding(N_ITEMS, DIM)
        self.bu = nn.Embedding(N_USERS, 1)
        self.bi = nn.Embedding(N_ITEMS, 1)

    def forward(self, u, i):
        s = (self.user(u) * self.item(i)).sum(1, keepdim=True) + self.bu(u) + self.bi(i)
        return torch.sigmoid(s)


model = MF()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(15):
    for b in torch.randperm(5000).split(100):
        pred = model(users[b], items[b])
        loss = nn.functional.mse_loss(pred, ratings[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        p = model(users[5000:], items[5000:]).squeeze(1)
        print(f"epoch {epoch} val rmse {((p - ratings[5000:]) ** 2).mean().sqrt().item():.4f}")
