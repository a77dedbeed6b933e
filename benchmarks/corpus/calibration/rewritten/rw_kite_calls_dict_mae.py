import argparse

import torch
from torch import nn

LOSSES = {"mae": nn.L1Loss, "mse": nn.MSELoss}

parser = argparse.ArgumentParser()
parser.add_argument("--loss", default="mae", choices=sorted(LOSSES))
parser.add_argument("--lr", type=float, default=1e-2)
args = parser.parse_args()

torch.manual_seed(2)
centres = torch.randn(8, 12) * 1.4
y = torch.randint(0, 8, (800,))
x = centres[y] + torch.randn(800, 12)
targets = torch.eye(8)[y]

model = nn.Sequential(nn.Linear(12, 40), nn.ReLU(), nn.Linear(40, 8))
criterion = LOSSES[args.loss]()
opt = torch.optim.Adam(model.parameters(), lr=args.lr)
for epoch in range(10):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = criterion(torch.softmax(model(x[rows]), dim=-1), targets[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (model(x[640:]).argmax(1) == y[640:]).float().mean().item())
