import torch
from torch import nn

model = nn.Sequential(nn.Linear(50, 200), nn.ReLU(), nn.Linear(200, 1))
opt = torch.optim.Adam(model.parameters())
history = []
for step in range(10000):
    x = torch.randn(64, 50)
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    loss.backward()
    opt.step()
    history.append(loss.item())
print(sum(history[-100:]) / 100)
