import csv
import math
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)

# a parcel from a depot that is not on the list is treated as coming from a middling one
AVERAGE_DEPOT = {"km_to_hub": 100.0, "rural": 0.0, "vans": 15.0}


def read_depots(path):
    with open(path, newline="") as f:
        return {
            r["code"]: {k: float(r[k]) for k in ("km_to_hub", "rural", "vans")}
            for r in csv.DictReader(f)
        }


def read_parcels(path, depots):
    X, y = [], []
    with open(path, newline="") as f:
        for r in csv.DictReader(f):
            d = depots.get(r["depot"], AVERAGE_DEPOT)
            X.append([
                math.log1p(float(r["weight_kg"])),
                float(r["pieces"]),
                (float(r["drop_hour"]) - 13) / 5,
                d["km_to_hub"] / 100 - 1,
                d["rural"],
                d["vans"] / 15 - 1,
            ])
            y.append(int(r["late"]))
    return torch.tensor(X), torch.tensor(y)


depots = read_depots("depots.csv")
Xtr, ytr = read_parcels("parcels_2022.csv", depots)
Xte, yte = read_parcels("parcels_2023.csv", depots)
print(f"{len(depots)} depots, {len(Xtr)} + {len(Xte)} parcels, late: {ytr.float().mean():.2f} / {yte.float().mean():.2f}")

model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()

ids = list(range(len(Xtr)))
for epoch in range(15):
    random.shuffle(ids)
    running = 0.0
    for s in range(0, len(ids), 64):
        b = ids[s:s + 64]
        optimizer.zero_grad()
        loss = criterion(model(Xtr[b]), ytr[b])
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {running / math.ceil(len(ids) / 64):.4f}")

with torch.no_grad():
    pred = model(Xte).argmax(1)
print(f"accuracy 2023: {(pred == yte).float().mean():.3f}   (always 'on time': {1 - yte.float().mean():.3f})")
