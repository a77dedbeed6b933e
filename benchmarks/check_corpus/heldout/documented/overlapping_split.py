import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

full = TensorDataset(torch.randn(1000, 6), torch.randint(0, 2, (1000,)))
train = Subset(full, range(0, 850))
val = Subset(full, range(800, 1000))
train_loader = DataLoader(train, batch_size=20, shuffle=True)
val_loader = DataLoader(val, batch_size=200)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    net.train()
    for x, y in train_loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        x, y = next(iter(val_loader))
        print((net(x).argmax(1) == y).float().mean())
