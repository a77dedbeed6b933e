import csv
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, random_split, Dataset


class Wines(Dataset):
    """jury_rank: 1 is the best of ten, so the merit of a wine is ten minus its rank"""

    regions = ["R0", "R1", "R2", "R3", "R4"]

    def __init__(self, path):
        self.items = []
        with open(path, newline="") as fh:
            for r in csv.DictReader(fh, delimiter="\t"):
                x = [float(r["region"] == g) for g in self.regions]
                x += [float(r["age"]) / 40, (10 - float(r["jury_rank"])) / 10, float(r["bottles"]) / 25]
                self.items.append((x, math.log1p(float(r["auction_eur"]))))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        x, y = self.items[i]
        return torch.tensor(x), torch.tensor(y)


def euros(z, mid, width):
    return torch.expm1(z * width + mid)


torch.manual_seed(16)
wines = Wines("wines.tsv")
train, test = random_split(wines, [0.8, 0.2], generator=torch.Generator().manual_seed(16))
logs = torch.stack([y for _, y in train])
mid, width = logs.mean(), logs.std()
print(f"{len(train)} lots, log price {mid:.2f} +- {width:.2f}")

net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(15):
    total = 0.0
    for x, y in DataLoader(train, batch_size=100, shuffle=True):
        loss = nn.functional.mse_loss(net(x), (y - mid) / width)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss on the log scale {total / len(train):.4f}")

rel, ab = [], []
with torch.no_grad():
    for x, y in DataLoader(test, batch_size=250):
        got, want = euros(net(x), mid, width), torch.expm1(y)
        rel.append((got - want).abs() / want)
        ab.append((got - want).abs())
print(f"MAE {torch.cat(ab).mean().item():.2f} EUR")
print(f"median relative error {torch.cat(rel).median().item():.3f}")
