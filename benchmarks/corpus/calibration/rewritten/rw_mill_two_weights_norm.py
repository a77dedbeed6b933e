import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
x = torch.randn(800, 6)
y = (x[:, :1] * x[:, 1:2]) + 0.5 * x[:, 2:3]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 48)
        self.fc2 = nn.Linear(48, 1)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(15):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        data_loss = F.mse_loss(net(x[rows]), y[rows])
        reg = net.fc1.weight.norm(2) + net.fc2.weight.norm(2)
        loss = data_loss + reg
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val mse", F.mse_loss(net(x[640:]), y[640:]).item())
