import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

celsius = torch.tensor([-40, -10, 0, 8, 15, 22, 38], dtype=torch.float32).view(-1, 1)
fahrenheit = torch.tensor([-40, 14, 32, 46, 59, 72, 100], dtype=torch.float32).view(-1, 1)

model = nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

for epoch in range(50):
    loss = nn.functional.mse_loss(model(celsius), fahrenheit)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"final loss {loss.item():.4f}")
print("100 C is", model(torch.tensor([[100.0]])).item(), "F")
