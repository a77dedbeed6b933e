import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(n):
    x = torch.randn(n, 4)
    return x, x[:, 0] * 2 - x[:, 1] + 0.1 * torch.randn(n)


x, y = make_data(800)
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
mse = nn.MSELoss()
for epoch in range(10):
    for xb, yb in loader:
        opt.zero_grad()
        loss = mse(model(xb).squeeze(1), yb)
        loss.backward()
        opt.step()
