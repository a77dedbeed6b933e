# binary classification of a patient table, a 12-8-1 network
import os

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

n = 640
age = np.random.uniform(20, 80, n)
glucose = np.random.normal(120, 30, n)
pressure = np.random.normal(70, 12, n)
bmi = np.random.normal(32, 7, n)
births = np.random.poisson(3, n)
risk = 0.06 * (glucose - 120) + 0.12 * (bmi - 32) + 0.03 * (age - 50) + 0.2 * (births - 3)
outcome = (risk + np.random.normal(0, 0.3, n) > 0).astype(np.float32)
table = np.stack([births, glucose, pressure, bmi, age], axis=1).astype(np.float32)
table = (table - table.mean(axis=0)) / table.std(axis=0)

X = torch.tensor(table, dtype=torch.float32)
y = torch.tensor(outcome, dtype=torch.float32).reshape(-1, 1)

model = nn.Sequential(
    nn.Linear(5, 12),
    nn.ReLU(),
    nn.Linear(12, 8),
    nn.ReLU(),
    nn.Linear(8, 1),
    nn.Sigmoid()
)

loss_fn = nn.BCELoss()
optimizer = optim.Adagrad(model.parameters(), lr=0.0001)

n_epochs = 30
batch_size = 16

for epoch in range(n_epochs):
    for i in range(0, len(X), batch_size):
        Xbatch = X[i:i+batch_size]
        y_pred = model(Xbatch)
        ybatch = y[i:i+batch_size]
        loss = loss_fn(y_pred, ybatch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with torch.no_grad():
    y_pred = model(X)
accuracy = (y_pred.round() == y).float().mean()
print(f"loss {loss_fn(y_pred, y).item():.4f}")
print(f"accuracy {accuracy}")
