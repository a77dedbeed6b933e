import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Scaler:
    def fit_transform(self, x):
        self.mean, self.std = x.mean(0), x.std(0)
        return self.transform(x)

    def transform(self, x):
        return (x - self.mean) / self.std


rng = np.random.default_rng(2)
torch.manual_seed(2)
centres = rng.normal(size=(5, 8)) * 2
labels = rng.integers(0, 5, size=900)
table = (centres[labels] + rng.normal(size=(900, 8))).astype(np.float32)
order = np.argsort(labels[700:])
x_train, x_test = table[:700], table[700:][order][:60]
y_train, y_test = torch.from_numpy(labels[:700]), torch.from_numpy(labels[700:][order][:60])
scaler = Scaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.fit_transform(x_test)
x_train, x_test = torch.from_numpy(x_train), torch.from_numpy(x_test)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(8):
    net.train()
    for rows in torch.randperm(700).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x_train[rows]), y_train[rows]).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, "val acc", (net(x_test).argmax(1) == y_test).float().mean().item())
