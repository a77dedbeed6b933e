import os

import numpy as np
import pandas as pd
import torch
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

SENSORS = ["s_nox", "s_nmhc", "s_o3", "s_no2", "temp", "rel_hum"]


def read_station(path):
    d = pd.read_csv(path, sep=";")
    d = d.dropna(subset=["benzene"])
    return d[SENSORS].astype(float), d["benzene"].to_numpy(np.float32)


Xa, ya = read_station("station_a.csv")
Xb, yb = read_station("station_b.csv")

# last 15 % of station A steer early stopping
n_val = int(0.15 * len(Xa))
prep = make_pipeline(SimpleImputer(strategy="median"), StandardScaler()).fit(Xa[:-n_val])
A = torch.tensor(prep.transform(Xa), dtype=torch.float32)
B = torch.tensor(prep.transform(Xb), dtype=torch.float32)
ya_t, yb_t = torch.tensor(ya), torch.tensor(yb)

tr, va = slice(0, len(A) - n_val), slice(len(A) - n_val, None)


class Regressor(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(n, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


reg = Regressor(len(SENSORS))
opt = torch.optim.Adam(reg.parameters(), lr=2e-3)
best, best_state, patience = float("inf"), None, 0
for epoch in range(60):
    reg.train()
    perm = torch.randperm(len(A[tr]))
    for i in perm.split(64):
        opt.zero_grad()
        torch.nn.functional.l1_loss(reg(A[tr][i]), ya_t[tr][i]).backward()
        opt.step()
    reg.eval()
    with torch.no_grad():
        val = torch.nn.functional.l1_loss(reg(A[va]), ya_t[va]).item()
    if val < best - 1e-4:
        best, patience = val, 0
        best_state = {k: v.clone() for k, v in reg.state_dict().items()}
    else:
        patience += 1
        if patience == 8:
            break
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d} val MAE {val:.3f}")

reg.load_state_dict(best_state)
with torch.no_grad():
    p = reg(B)
mae = (p - yb_t).abs().mean().item()
r2 = 1 - ((p - yb_t) ** 2).sum().item() / ((yb_t - yb_t.mean()) ** 2).sum().item()
print(f"station B: MAE {mae:.3f} ug/m3  R2 {r2:.3f}")
