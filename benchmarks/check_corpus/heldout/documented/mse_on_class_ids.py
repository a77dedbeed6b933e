import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(900, 15)
labels = torch.randint(0, 9, (900,))
loader = DataLoader(TensorDataset(x, labels), batch_size=30, shuffle=True)
net = nn.Sequential(nn.Linear(15, 60), nn.ReLU(), nn.Linear(60, 1))
criterion = nn.MSELoss()
opt = torch.optim.Adam(net.parameters())
for epoch in range(10):
    for xb, yb in loader:
        opt.zero_grad()
        loss = criterion(net(xb).squeeze(1), yb.float())
        loss.backward()
        opt.step()
