import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

centers = torch.randn(4, 5) * 2
labels = torch.randint(0, 4, (1000,))
points = centers[labels] + torch.randn(1000, 5)
loader = DataLoader(TensorDataset(points, labels), batch_size=50, shuffle=True)

model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.L1Loss()

for epoch in range(10):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        predicted = torch.argmax(model(xb), dim=1).float()
        loss = criterion(predicted, yb.float())
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.4f}")

with torch.no_grad():
    print(f"accuracy {(model(points).argmax(1) == labels).float().mean().item():.3f}")
