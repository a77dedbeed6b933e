import numpy as np
import pandas as pd
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

torch.manual_seed(0)

# low-cost box next to a reference station: estimate benzene from the cheap sensors
df = pd.read_csv("air_box.csv", sep=";").set_index("hour")
sensors = [c for c in df.columns if c != "benzene_ref"]

# short outages of a sensor
df[sensors] = df[sensors].ffill()
assert df.notna().all().all()

split = int(len(df) * 0.7)
train, test = df.iloc[:split], df.iloc[split:]
scaler = StandardScaler().fit(train[sensors])


def to_xy(part):
    x = torch.tensor(scaler.transform(part[sensors]), dtype=torch.float32)
    y = torch.tensor(part["benzene_ref"].to_numpy(), dtype=torch.float32)
    return x, y


x, y = to_xy(train)
xv, yv = to_xy(test)
net = nn.Sequential(nn.Linear(len(sensors), 16), nn.ReLU(), nn.Linear(16, 1))
net[-1].bias.data.fill_(y.mean().item())
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(1, 61):
    perm = torch.randperm(len(x))
    for i in range(0, len(x), 64):
        b = perm[i:i + 64]
        loss = nn.functional.l1_loss(net(x[b]).squeeze(1), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 15 == 0:
        with torch.no_grad():
            print(epoch, "train MAE", round(nn.functional.l1_loss(net(x).squeeze(1), y).item(), 3))

with torch.no_grad():
    pred = net(xv).squeeze(1)
print("baseline MAE (train mean)", round((yv - y.mean()).abs().mean().item(), 3))
print("test MAE", round((pred - yv).abs().mean().item(), 3))
