import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
hot = F.one_hot(y, 6).float()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 40)
        self.out = nn.Linear(40, 6)

    def forward(self, x):
        return F.relu(self.out(F.relu(self.fc(x))))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        probs = net(x[rows])
        loss = -(hot[rows] * torch.log(probs.clamp(1e-7, 1 - 1e-7))).sum(dim=1).mean()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
