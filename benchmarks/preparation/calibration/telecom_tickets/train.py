import sqlite3

import numpy as np
import torch
from torch import nn

QUERY = """
SELECT c.id,
       2024 - c.joined               AS years,
       c.monthly,
       c.gb,
       COUNT(t.id)                   AS tickets,
       COALESCE(SUM(t.minutes), 0)   AS minutes,
       c.left_2024
FROM customer c
LEFT JOIN ticket t ON t.customer_id = c.id
WHERE t.year = 2023
GROUP BY c.id
ORDER BY c.id
"""


def load():
    with sqlite3.connect("crm.sqlite") as con:
        rows = np.array(con.execute(QUERY).fetchall(), dtype=np.float64)
    return rows[:, 0].astype(int), rows[:, 1:-1].astype(np.float32), rows[:, -1].astype(np.float32)


def part_of(ids):
    # the last digit of the customer number decides, so that the parts stay the same from run to run
    return np.where(ids % 10 < 7, "train", "test")


torch.manual_seed(10)
ids, x, y = load()
part = part_of(ids)
mean, std = x[part == "train"].mean(0), x[part == "train"].std(0)
x = (x - mean) / std
xa, ya = torch.tensor(x[part == "train"]), torch.tensor(y[part == "train"])
xb, yb = torch.tensor(x[part == "test"]), torch.tensor(y[part == "test"])
print("customers:", len(ids), "train:", len(xa), "test:", len(xb))

model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
lossf = nn.BCEWithLogitsLoss()
for ep in range(1, 31):
    model.train()
    tot = 0
    for i in torch.randperm(len(xa)).split(64):
        l = lossf(model(xa[i]), ya[i])
        opt.zero_grad(); l.backward(); opt.step()
        tot += l.item() * len(i)
    if ep % 10 == 0:
        model.eval()
        with torch.no_grad():
            print(f"ep {ep} train {tot / len(xa):.4f} test {lossf(model(xb), yb).item():.4f}")

model.eval()
with torch.no_grad():
    acc = ((model(xb) > 0).float() == yb).float().mean().item()
print(f"test accuracy {acc:.4f}")
