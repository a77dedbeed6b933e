import os

import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
np.random.seed(seed)

# electricity use (kWh) from temperature (deg C), wind (m/s) and number of people in the flat
n = 500
temp = np.random.uniform(-5, 15, n)
wind = np.random.uniform(0, 8, n)
people = np.random.randint(1, 5, n)
kwh = 12.0 - 0.45 * temp + 0.3 * wind + 2.1 * people + np.random.randn(n) * 0.5

X = torch.tensor(np.stack([temp, wind, people], axis=1), dtype=torch.float32)
y = torch.tensor(kwh, dtype=torch.float32).unsqueeze(1)
X_train, y_train = X[:400], y[:400]
X_test, y_test = X[400:], y[400:]

model = nn.Linear(3, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

for epoch in range(1000):
    pred = model(X_train)
    loss = criterion(pred, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 100 == 0:
        print("epoch", epoch + 1, "mse", round(loss.item(), 4))

with torch.no_grad():
    test_mse = criterion(model(X_test), y_test).item()
    r2 = 1 - test_mse / y_test.var(unbiased=False).item()
print("weights", model.weight.data.numpy().round(2), "bias", model.bias.data.numpy().round(2))
print("test mse", round(test_mse, 4), "R2", round(r2, 4))
