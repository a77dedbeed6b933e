import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(2)
torch.manual_seed(2)
table = rng.normal(size=(800, 6)).astype(np.float32)
price = 0.4 * table[:, 0] - 0.3 * table[:, 1] + 0.2 * np.sin(table[:, 2])
features = torch.tensor(table)
target = torch.tensor(price, dtype=torch.long)
truth = torch.tensor(price, dtype=torch.float32)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(10):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = F.mse_loss(net(features[rows]).squeeze(1), target[rows].float())
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val mse", F.mse_loss(net(features[640:]).squeeze(1), truth[640:]).item())
