import torch
from torch import nn

LAMBDA = 0.05


def l2(model):
    penalty = 0.0
    for module in model.modules():
        if isinstance(module, nn.Linear):
            penalty += module.weight.square().sum()
    return penalty


torch.manual_seed(5)
centres = torch.randn(6, 10)
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 6))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        (ce(net(x[rows]), y[rows]) + LAMBDA * l2(net)).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
