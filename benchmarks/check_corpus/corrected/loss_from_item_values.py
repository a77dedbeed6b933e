import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(100, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
for step in range(100):
    optimizer.zero_grad()
    error = nn.functional.mse_loss(model(x), y)
    penalty = sum(p.abs().sum() for p in model.parameters())
    loss = error + 0.01 * penalty
    loss.backward()
    optimizer.step()
