#!/usr/bin/env python
# coding: utf-8
# Loan default baseline. Tables: application.csv (main), addresses.csv
import warnings
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import TensorDataset, DataLoader

warnings.filterwarnings("ignore")
SEED = 2023
np.random.seed(SEED)
torch.manual_seed(SEED)

# ---------- read ----------
app = pd.read_csv("application.csv")
addr = pd.read_csv("addresses.csv")
print("application:", app.shape, " addresses:", addr.shape)

# ---------- features ----------
addr = addr.sort_values(["customer_id", "since"])
app = app.merge(addr, on="customer_id", how="left")
app["years_at_address"] = 2024 - app["since"]
app["debt_ratio"] = app["debt"] / (app["income"] * 12)
app["loan_ratio"] = app["loan_amount"] / (app["income"] * 12)
app = pd.get_dummies(app, columns=["housing"], dtype=float)
app = app.fillna(app.median(numeric_only=True))

y = app["default"].values.astype("float32")
X = app.drop(columns=["default", "customer_id", "since"])
print("features:", list(X.columns))

X_tr, X_va, y_tr, y_va = train_test_split(X.values, y, test_size=0.2, stratify=y, random_state=SEED)
scaler = StandardScaler()
X_tr = scaler.fit_transform(X_tr).astype("float32")
X_va = scaler.transform(X_va).astype("float32")

# ---------- model ----------
class MLP(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.seq = nn.Sequential(
            nn.Linear(n_in, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, 64), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Linear(64, 1))

    def forward(self, x):
        return self.seq(x).squeeze(-1)


dl = DataLoader(TensorDataset(torch.tensor(X_tr), torch.tensor(y_tr)), batch_size=128, shuffle=True, drop_last=True)
model = MLP(X_tr.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()

# ---------- train ----------
for epoch in range(30):
    model.train()
    tot = 0
    for xb, yb in dl:
        opt.zero_grad()
        l = bce(model(xb), yb)
        l.backward()
        opt.step()
        tot += l.item()
    if (epoch + 1) % 5 == 0:
        model.eval()
        with torch.no_grad():
            p = torch.sigmoid(model(torch.tensor(X_va))).numpy()
        print(f"[{epoch + 1:02d}] loss={tot / len(dl):.4f} valid AUC={roc_auc_score(y_va, p):.4f}")
