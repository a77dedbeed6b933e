import os

import torch
import torch.nn as nn
import torch.nn.functional as F


class QualityNet(nn.Module):
    def __init__(self, d_in, d_hidden=128, p=0.5):
        super().__init__()
        self.l1 = nn.Linear(d_in, d_hidden)
        self.l2 = nn.Linear(d_hidden, d_hidden)
        self.l3 = nn.Linear(d_hidden, 1)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        x = self.drop(F.relu(self.l1(x)))
        x = self.drop(F.relu(self.l2(x)))
        return self.l3(x)


def wine(n):
    x = torch.randn(n, 11)
    y = 1.5 * x[:, 0] - x[:, 3] + 0.8 * torch.relu(x[:, 5]) * x[:, 7] + 0.5 * x[:, 9] ** 2
    return x, (y + 0.1 * torch.randn(n)).unsqueeze(1)


torch.manual_seed(int(os.environ.get("SEED", "0")))
x_tr, y_tr = wine(2000)
x_va, y_va = wine(500)
mean, std = y_tr.mean(), y_tr.std()
y_tr, y_va = (y_tr - mean) / std, (y_va - mean) / std

net = QualityNet(11)
mse = nn.MSELoss()
optim = torch.optim.Adam(net.parameters(), lr=2e-3)
net.train()
for epoch in range(15):
    for idx in torch.randperm(len(x_tr)).split(64):
        optim.zero_grad()
        loss = mse(net(x_tr[idx]), y_tr[idx])
        loss.backward()
        optim.step()
    with torch.no_grad():
        val_pred = net(x_va)
        val_mse = mse(val_pred, y_va)
    print("epoch {:2d}  train batch mse {:.4f}  val mse {:.4f}".format(epoch, loss.item(), val_mse.item()))

r2 = 1 - ((val_pred - y_va) ** 2).mean() / y_va.var()
print("validation R2 {:.3f}".format(r2.item()))
