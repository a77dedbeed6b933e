"""From the running log: will the coming inspection find the bearing worn?"""
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupShuffleSplit
from torch import nn

torch.manual_seed(12)

log = pd.read_csv("running.csv").sort_values("hour")
found = pd.read_csv("inspections.csv").rename(columns={"worn": "label"}).sort_values("hour")

df = pd.merge_asof(log, found, on="hour", by="machine", direction="forward", tolerance=20.0)
df = df.dropna(subset=["label"]).reset_index(drop=True)
print(f"{len(log)} log lines, {len(df)} within 20 hours of an inspection, worn {df['label'].mean():.2f}")

print(df.groupby("label")[["vibration", "bearing_temp"]].mean().round(2).to_string())

x = torch.tensor(df[["vibration", "bearing_temp"]].to_numpy("float32"))
y = torch.tensor(df["label"].to_numpy("float32"))
tr, te = next(GroupShuffleSplit(1, test_size=0.3, random_state=12).split(df, groups=df["machine"]))
mean, std = x[tr].mean(0), x[tr].std(0)
x = (x - mean) / std

net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()
tr = torch.as_tensor(tr)
for epoch in range(12):
    s = 0.0
    for b in tr[torch.randperm(len(tr))].split(64):
        opt.zero_grad()
        loss = bce(net(x[b]).squeeze(1), y[b])
        loss.backward()
        opt.step()
        s += loss.item() * len(b)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {s / len(tr):.4f}")

with torch.no_grad():
    p = net(x[te]).squeeze(1)
print(f"AUC on machines not seen: {roc_auc_score(y[te], p):.3f}")
