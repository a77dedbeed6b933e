import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 40
data = TensorDataset(torch.randn(4000, 12), torch.randn(4000, 1))
loader = DataLoader(data, batch_size=20, shuffle=True)
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
for epoch in range(EPOCHS):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    decay.step()
