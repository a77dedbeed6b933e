"""Regression whose dropout stays on at prediction time: the spread of many passes is the uncertainty."""
import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def truth(x):
    return torch.sin(3 * x) + 0.5 * x


x_train = torch.rand(800, 1) * 3 - 1.5
y_train = truth(x_train) + 0.1 * torch.randn_like(x_train)
x_val = torch.rand(200, 1) * 3 - 1.5
net = nn.Sequential(
    nn.Linear(1, 128), nn.ReLU(), nn.Dropout(0.05), nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.05), nn.Linear(128, 1)
)
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-5)
loss_fn = nn.MSELoss()


def mc_predict(x, passes=30):
    net.train()  # keep dropout sampling
    with torch.no_grad():
        draws = torch.stack([net(x) for _ in range(passes)])
    return draws.mean(0), draws.std(0)


for epoch in range(18):
    net.train()
    for idx in torch.randperm(800).split(40):
        loss = loss_fn(net(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 1:
        mean, _ = mc_predict(x_val)
        print(f"epoch {epoch} train mse {loss.item():.4f} val rmse {(mean - truth(x_val)).pow(2).mean().sqrt():.4f}")

_, inside = mc_predict(torch.linspace(-1.4, 1.4, 50).unsqueeze(1))
_, outside = mc_predict(torch.linspace(3, 5, 50).unsqueeze(1))
print(f"uncertainty inside the data {inside.mean():.3f}, far outside {outside.mean():.3f}")
