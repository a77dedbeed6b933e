import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x)

    def fit(self, x, y, epochs=4, batch=64):
        opt = torch.optim.SGD(self.parameters(), lr=0.02)
        epoch = 0
        while epoch < epochs:
            for rows in torch.randperm(640).split(batch):
                opt.zero_grad()
                loss = F.mse_loss(self(x[rows]), y[rows])
                loss.backward()
                opt.step()
            epoch += 1
            with torch.no_grad():
                print(epoch, "val mse", F.mse_loss(self(x[640:]), y[640:]).item())


torch.manual_seed(2)
x = torch.randn(800, 6)
y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]
Model().fit(x, y)
