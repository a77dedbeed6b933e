import sqlite3

import torch
from torch import nn

torch.manual_seed(9)
N_BODIES = 8

con = sqlite3.connect("claims.db")
rows = con.execute("SELECT claim_id, body_code, driver_age, km_year, high_cost FROM claim ORDER BY claim_id").fetchall()
con.close()


class Claims(torch.utils.data.Dataset):
    def __init__(self, rows, stats=None):
        self.body = torch.tensor([r[1] for r in rows]) + 1
        raw = torch.tensor([[float("nan") if v is None else v for v in r[2:4]] for r in rows])
        told = ~raw.isnan()
        if stats is None:
            n = told.sum(0)
            mean = raw.nansum(0) / n
            std = (((raw - mean) ** 2).nansum(0) / n).sqrt()
            stats = (mean, std)
        self.stats = stats
        z = torch.nan_to_num((raw - stats[0]) / stats[1], nan=0.0)
        self.num = torch.cat([z, told.float()], dim=1)
        self.y = torch.tensor([r[4] for r in rows])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.body[i], self.num[i], self.y[i]


class CostNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Embedding(N_BODIES + 1, 4)
        self.mlp = nn.Sequential(nn.Linear(4 + 4, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, body, num):
        return self.mlp(torch.cat([self.body(body), num], dim=1))


train = Claims([r for r in rows if r[0] % 5])
test = Claims([r for r in rows if r[0] % 5 == 0], train.stats)
net = CostNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    total = 0.0
    for body, num, y in torch.utils.data.DataLoader(train, batch_size=100, shuffle=True):
        loss = nn.functional.cross_entropy(net(body, num), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    print(f"epoch {epoch + 1}: loss {total / len(train):.4f}")

with torch.no_grad():
    acc = (net(test.body, test.num).argmax(1) == test.y).float().mean().item()
print(f"test accuracy {acc:.3f}")
