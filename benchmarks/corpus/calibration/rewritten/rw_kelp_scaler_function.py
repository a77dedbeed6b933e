import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
centres = rng.normal(size=(5, 8)) * 3 + 40
labels = rng.integers(0, 5, size=900)
table = (centres[labels] + rng.normal(size=(900, 8)) * 2).astype(np.float32)
raw_train, raw_test = table[:700], table[700:]
y_train, y_test = torch.from_numpy(labels[:700]), torch.from_numpy(labels[700:])


def standardise(values, mean, std):
    return (values - mean) / std


mean, std = raw_train.mean(0), raw_train.std(0)
x_train = torch.from_numpy(standardise(raw_train, mean, std))
x_test = torch.from_numpy(raw_test)
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
