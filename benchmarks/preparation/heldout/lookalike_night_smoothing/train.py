"""Sleep or wake for every minute of a night, worked out the morning after from the whole recording."""
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import balanced_accuracy_score
from torch import nn

torch.manual_seed(92)
TEST_NIGHTS = range(22, 30)

rec = pd.read_csv("nights.csv").sort_values(["night", "minute"])
signals = ["movement", "pulse"]
for s in signals:
    for w in (5, 11):
        rec[f"{s}_{w}"] = rec.groupby("night")[s].transform(
            lambda v: v.rolling(w, center=True, min_periods=1).mean())
    rec[f"{s}_rel"] = rec[f"{s}_11"] - rec.groupby("night")[s].transform("median")

inputs = [c for c in rec.columns if c not in ("night", "minute", "asleep")]
test_rows = rec["night"].isin(TEST_NIGHTS)
mu, sd = rec.loc[~test_rows, inputs].mean(), rec.loc[~test_rows, inputs].std()
x = torch.tensor(((rec[inputs] - mu) / sd).to_numpy(np.float32))
y = torch.tensor(rec["asleep"].to_numpy(np.float32))
tr = torch.tensor(np.flatnonzero(~test_rows))
te = torch.tensor(np.flatnonzero(test_rows))
print(f"{rec['night'].nunique()} nights, {len(tr)} minutes to train on, {len(te)} to test on; inputs {inputs}")

net = nn.Sequential(nn.Linear(len(inputs), 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    tot = 0.0
    for b in tr[torch.randperm(len(tr))].split(128):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[b]).squeeze(1), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
    if epoch % 5 == 4:
        print("epoch", epoch + 1, "loss", round(tot / len(tr), 4))

with torch.no_grad():
    p = (net(x[te]).squeeze(1) > 0).numpy()
print(f"balanced accuracy on new nights {balanced_accuracy_score(y[te].numpy(), p):.3f}")
