# Flow at the pump station 20 minutes from now. 5 minute readings, hourly background.
import sys
import time
import numpy as np
import pandas as pd
import torch

AHEAD = 4          # steps of 5 minutes
HIDDEN = 40
EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 15


def load(path="pump_station.csv"):
    d = pd.read_csv(path, sep=";", parse_dates=["time"])
    d = d.sort_values("time").reset_index(drop=True)
    return d


def hourly_background(d):
    h = d.set_index("time")[["flow", "pressure"]].resample("1h").agg(["mean", "max"])
    h.columns = [f"{a}_{b}_1h" for a, b in h.columns]
    return h.reset_index()


def assemble(d):
    h = hourly_background(d)
    m = pd.merge_asof(d, h, on="time", direction="backward")
    for k in (1, 2, 3):
        m[f"flow_m{k}"] = m.flow.shift(k)
    minute = m.time.dt.hour * 60 + m.time.dt.minute
    m["tod_s"] = np.sin(minute / 1440 * 2 * np.pi)
    m["tod_c"] = np.cos(minute / 1440 * 2 * np.pi)
    m["past_hour"] = m.time.dt.minute / 60
    m["target"] = m.flow.shift(-AHEAD) - m.flow
    return m.dropna().reset_index(drop=True)


def standardise(a, ref):
    return (a - ref.mean(0)) / (ref.std(0) + 1e-8)


t0 = time.time()
torch.manual_seed(1)
m = assemble(load())
cols = [c for c in m.columns if c not in ("time", "target")]
split = int(0.75 * len(m))
X, y = m[cols].to_numpy(float), m["target"].to_numpy(float)
Xs = torch.tensor(standardise(X, X[:split]), dtype=torch.float32)
scale = y[:split].std()
ys = torch.tensor(y / scale, dtype=torch.float32)
Xtr, ytr = Xs[:split - AHEAD], ys[:split - AHEAD]
Xte, yte = Xs[split:], ys[split:]

net = torch.nn.Sequential(
    torch.nn.Linear(Xs.shape[1], HIDDEN), torch.nn.Tanh(),
    torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.Tanh(),
    torch.nn.Linear(HIDDEN, 1))
optim = torch.optim.Adam(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, EPOCHS)
for e in range(EPOCHS):
    order = torch.randperm(len(Xtr))
    losses = []
    for b in range(0, len(order), 256):
        i = order[b:b + 256]
        l = ((net(Xtr[i])[:, 0] - ytr[i]) ** 2).mean()
        optim.zero_grad(); l.backward(); optim.step()
        losses.append(l.item())
    sched.step()
    print("epoch %d loss %.4f" % (e, np.mean(losses)))

with torch.no_grad():
    p = net(Xte)[:, 0]
r2 = 1 - ((p - yte) ** 2).sum() / ((yte - yte.mean()) ** 2).sum()
print("features:", ", ".join(cols))
print("R2 of the change in flow on the last quarter: %.3f   (%.1f s)" % (r2, time.time() - t0))
