import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(800, 8)
y = torch.sin(x[:, :2]).sum(1, keepdim=True) + 0.1 * torch.randn(800, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(15):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        loss = loss + 0.1 * sum(p.pow(2).sum() for p in model.parameters())
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val mse", nn.functional.mse_loss(model(x[640:]), y[640:]).item())
