import torch
from torch import nn

rows = [[0.1, 0.7], [0.9, 0.2], [0.4, 0.4], [0.8, 0.9]]
x = torch.tensor(rows)
y = torch.Tensor([0, 1, 0, 1])
net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
criterion = nn.CrossEntropyLoss()
for _ in range(100):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    opt.step()
