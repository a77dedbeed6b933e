# How many vehicles will pass in 6 hours from now?
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(8)
HORIZON = 6

df = pd.read_csv("counter.csv", parse_dates=["time"]).sort_values("time")
df["now"] = df["vehicles"]
df["mean_3h"] = df["vehicles"].rolling(3).mean()
df["mean_24h"] = df["vehicles"].rolling(24).mean()
df["max_24h"] = df["vehicles"].rolling(24).max()
df["trend"] = df["vehicles"].diff(3)
then = df["time"] + pd.Timedelta(hours=HORIZON)
df["hs"], df["hc"] = np.sin(then.dt.hour * np.pi / 12), np.cos(then.dt.hour * np.pi / 12)
df["wk"] = (then.dt.weekday >= 5).astype(float)
df["target"] = df["vehicles"].shift(-HORIZON)
df = df.dropna().reset_index(drop=True)

cols = ["now", "mean_3h", "mean_24h", "max_24h", "trend", "hs", "hc", "wk"]
cut = int(len(df) * 0.8)
train, test = df.iloc[:cut - HORIZON], df.iloc[cut:]
mu, sd = train[cols].mean(), train[cols].std()
f = lambda d: torch.tensor(((d[cols] - mu) / sd).values, dtype=torch.float32)
xtr, xte = f(train), f(test)
ym, ys = train["target"].mean(), train["target"].std()
ytr = torch.tensor(((train["target"] - ym) / ys).values, dtype=torch.float32)

net = nn.Sequential(nn.Linear(len(cols), 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(1, 31):
    for i in torch.randperm(len(xtr)).split(128):
        loss = nn.functional.mse_loss(net(xtr[i]).squeeze(1), ytr[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 4))
with torch.no_grad():
    pred = net(xte).squeeze(1).numpy() * ys + ym
print("test MAE:", round(float(np.abs(pred - test["target"]).mean()), 1))
print("as now  :", round(float(np.abs(test["now"] - test["target"]).mean()), 1))
