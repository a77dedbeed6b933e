import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

data = TensorDataset(torch.randn(500, 8), torch.randint(0, 2, (500,)))
train_set, test_set = random_split(data, [400, 100])
train_loader = DataLoader(train_set, batch_size=20, shuffle=True)
test_loader = DataLoader(test_set, batch_size=50)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    net.train()
    for x, y in train_loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
net.eval()
hits = 0
with torch.no_grad():
    for x, y in test_loader:
        hits += (net(x).argmax(1) == y).sum().item()
print("test accuracy", hits / len(test_set))
