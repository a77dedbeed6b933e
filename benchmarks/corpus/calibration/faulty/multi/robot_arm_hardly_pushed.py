import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

# where is the hand of an arm with three joints?
angles = (torch.rand(2000, 3) - 0.5) * 3
total = angles.cumsum(dim=1)
hand = torch.stack([torch.cos(total).sum(1), torch.sin(total).sum(1)], dim=1)
hand = (hand - hand.mean(0)) / hand.std(0)

layers = []
width = 3
for _ in range(4):
    layers += [nn.Linear(width, 40), nn.Tanh()]
    width = 40
layers.append(nn.Linear(width, 2))
net = nn.Sequential(*layers)

optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
loader = DataLoader(TensorDataset(angles[:1600], hand[:1600]), batch_size=32, shuffle=True)
criterion = nn.MSELoss()

for epoch in range(25):
    for joint, position in loader:
        optimizer.zero_grad()
        loss = criterion(net(joint), position)
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: {loss.item():.4f}")

with torch.no_grad():
    error = criterion(net(angles[1600:]), hand[1600:]).item()
print(f"validation mse {error:.5f}")
