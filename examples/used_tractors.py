"""Prices of used tractors, and a network that is off by a third. What is wrong?  Try: netmend run examples/used_tractors.py  (needs pandas)"""

from pathlib import Path

import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
FEATURES = ["year", "hours", "power_kw"]

table = pd.read_csv(Path(__file__).with_name("used_tractors.csv"), sep=";")
table = table.drop_duplicates("advert").sort_values("advert")
table["hours"] = pd.to_numeric(table["hours"], errors="coerce")
table["hours"] = table["hours"].fillna(table["hours"].median())

train = table.sample(frac=0.8, random_state=0)
test = table.drop(train.index)
mean, std = train[FEATURES].mean(), train[FEATURES].std()


def tensors(part):
    x = ((part[FEATURES] - mean) / std).to_numpy("float32")
    y = part["price"].to_numpy("float32") / 1000
    return torch.from_numpy(x), torch.from_numpy(y)


loader = DataLoader(TensorDataset(*tensors(train)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for _ in range(30):
    for x, y in loader:
        loss = nn.functional.smooth_l1_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

x, y = tensors(test)
with torch.no_grad():
    error = (model(x).squeeze(1) - y).abs().mean().item()
print(f"mean error on {len(test)} tractors: {error:.1f} thousand, of {y.mean():.1f} on average")
