import torch
from torch import nn

torch.manual_seed(1)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 6))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        yb = y[rows]
        opt.zero_grad()
        out = net(x[rows])
        loss = -out[torch.arange(len(yb)), yb].mean()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
