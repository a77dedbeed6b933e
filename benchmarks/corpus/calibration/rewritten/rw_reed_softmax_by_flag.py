import torch
import torch.nn.functional as F
from torch import nn

FINAL = {
    "softmax": lambda z: F.softmax(z, dim=1),
    "sigmoid": torch.sigmoid,
    "none": lambda z: z,
}


class Net(nn.Module):
    def __init__(self, final="none"):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 6))
        self.final = final

    def forward(self, x):
        return FINAL[self.final](self.body(x))


torch.manual_seed(3)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = Net(final="softmax")
opt = torch.optim.SGD(net.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = criterion(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
