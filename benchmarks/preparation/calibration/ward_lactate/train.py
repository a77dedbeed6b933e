"""At every bedside check: will the patient get worse within the next hours?"""
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn

torch.manual_seed(2)

checks = pd.read_csv("checks.csv").astype({"hour": float})
lactate = pd.read_csv("lactate.csv").astype({"hour": float})

# the lab value that goes with each check, and how old it is
lactate["lab_hour"] = lactate["hour"]
df = pd.merge_asof(
    checks.sort_values("hour"),
    lactate.sort_values("hour"),
    on="hour",
    by="patient",
    direction="nearest",
)
df["lab_age"] = (df["hour"] - df["lab_hour"]).abs()

# whole patients go to one part or the other
patients = df["patient"].unique()
patients = np.random.default_rng(2).permutation(patients)
held_out = set(patients[: len(patients) // 4])
is_test = df["patient"].isin(held_out)

COLS = ["heart_rate", "spo2", "lactate", "lab_age"]
mu, sd = df.loc[~is_test, COLS].mean(), df.loc[~is_test, COLS].std()
z = ((df[COLS] - mu) / sd).to_numpy("float32")
t = df["deteriorates"].to_numpy("float32")
xtr, ttr = torch.tensor(z[~is_test]), torch.tensor(t[~is_test])
xte, tte = torch.tensor(z[is_test]), t[is_test]
print(f"{len(xtr)} checks for training, {len(xte)} for testing, positive {t.mean():.2f}")

net = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor((1 - t.mean()) / t.mean()))
for epoch in range(24):
    for batch in torch.randperm(len(xtr)).split(100):
        loss = bce(net(xtr[batch]).flatten(), ttr[batch])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 6 == 5:
        with torch.no_grad():
            print(f"epoch {epoch + 1}: training loss {bce(net(xtr).flatten(), ttr):.4f}")

with torch.no_grad():
    score = net(xte).flatten().numpy()
print(f"AUROC {roc_auc_score(tte, score):.3f}, AUPRC {average_precision_score(tte, score):.3f}")
