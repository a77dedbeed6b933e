import os
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


class OdourNet(nn.Module):
    def __init__(self, n_in=12, width=64):
        super().__init__()
        self.fc1 = nn.Linear(n_in, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 2)

    def forward(self, x):
        x = F.softmax(self.fc1(x), dim=1)
        x = F.softmax(self.fc2(x), dim=1)
        return self.fc3(x)


def mixtures(n):
    x = torch.randn(n, 12)
    pairs = x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3] + x[:, 4]
    return x, torch.stack([pairs, x[:, 5].abs() - x[:, 6].abs()], 1)


x, y = mixtures(2000)
xv, yv = mixtures(400)
model = OdourNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(15):
    model.train()
    for chunk in torch.randperm(len(x)).chunk(40):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[chunk]), y[chunk])
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        model.eval()
        with torch.no_grad():
            print("epoch", epoch + 1, "train %.3f" % loss.item(), "val mse %.3f" % F.mse_loss(model(xv), yv).item())
