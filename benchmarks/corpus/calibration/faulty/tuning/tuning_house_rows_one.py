# price of a house from 100 rows of a table
import os
import random

import numpy as np
import torch
from torch import nn, optim

seed = int(os.environ.get("SEED", "1"))
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)

rooms = np.random.randint(1, 8, 100)
area = rooms * 18 + np.random.normal(0, 10, 100)
distance = np.random.uniform(0, 25, 100)
price = 40 + 2.2 * area - 4 * distance + np.random.normal(0, 8, 100)

features = np.column_stack([rooms, area, distance])
features = (features - features.mean(0)) / features.std(0)
target = (price - price.mean()) / price.std()
x = torch.tensor(features, dtype=torch.float)
y = torch.tensor(target, dtype=torch.float).unsqueeze(1)

model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loss_fn = nn.MSELoss()


def run_epoch(batch_size):
    order = list(range(len(x)))
    random.shuffle(order)
    total = 0.0
    for b in range(0, len(order), batch_size):
        rows = order[b:b + batch_size]
        loss = loss_fn(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(order)


for epoch in range(1):
    average = run_epoch(batch_size=10)
print(f"loss {average:.4f}")
