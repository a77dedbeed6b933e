import os

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(int(os.environ.get("SEED", "0")))

# eight measurements of a patient; ill when two of them disagree
X = torch.randn(1536, 8)
y = ((X[:, 0] * X[:, 1] + 0.7 * X[:, 2] ** 2 - 0.6 * X[:, 3] + 0.2 * torch.randn(1536)) > 0.5).float().unsqueeze(1)

train_data, test_data = random_split(TensorDataset(X, y), [1200, 336])
train_loader = DataLoader(train_data, batch_size=24, shuffle=True)
test_loader = DataLoader(test_data, batch_size=336)

model = nn.Sequential()
model.add_module("dense1", nn.Linear(8, 48))
model.add_module("act1", nn.ReLU())
model.add_module("dense2", nn.Linear(48, 24))
model.add_module("act2", nn.ReLU())
model.add_module("dense3", nn.Linear(24, 1))
model.add_module("act3", nn.Sigmoid())

for layer in (model.dense1, model.dense2):
    nn.init.ones_(layer.weight)

loss_function = nn.BCELoss()
optimizer = optim.Adam(model.parameters(), lr=1e-5)

n_epochs = 30
for epoch in range(n_epochs):
    for features, target in train_loader:
        y_pred = model(features)
        loss = loss_function(y_pred, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if (epoch + 1) % 5 == 0 or epoch == n_epochs - 1:
        print(f"epoch {epoch + 1}, last loss {loss.item():.3f}")

with torch.no_grad():
    features, target = next(iter(test_loader))
    accuracy = ((model(features) > 0.5) == (target > 0.5)).float().mean().item()
print(f"Accuracy {accuracy:.4f}")
