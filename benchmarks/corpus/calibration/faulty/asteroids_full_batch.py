import os
import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)

n = 5000
elements = rng.normal(size=(n, 6)).astype(np.float32)
mag = np.sin(elements[:, 0] * 2) + elements[:, 1] * elements[:, 2] + 0.5 * np.abs(elements[:, 3])
mag = ((mag - mag.mean()) / mag.std()).astype(np.float32)
X, y = torch.from_numpy(elements), torch.from_numpy(mag).unsqueeze(1)
X_train, y_train, X_test, y_test = X[:4000], y[:4000], X[4000:], y[4000:]

model = nn.Sequential(nn.Linear(6, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.MSELoss()

for epoch in range(20):
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(X_train), y_train)
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        test_loss = loss_fn(model(X_test), y_test)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: train {loss.item():.4f} test mse {test_loss.item():.4f}")
