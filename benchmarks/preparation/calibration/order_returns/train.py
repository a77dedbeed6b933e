#!/usr/bin/env python
# Will an order come back?  orders.csv x catalogue.csv
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

SEED = 8
torch.manual_seed(SEED)

orders = pd.read_csv("orders.csv")
catalogue = pd.read_csv("catalogue.csv")

df = orders.merge(catalogue[["sku", "group", "list_price"]], on="sku", how="left")
df["paid"] = df["list_price"] * (1 - df["discount"])
df = df.join(pd.get_dummies(df["group"], dtype=float))

features = ["discount", "basket", "delivery_days", "age", "past_return_rate", "paid"] + sorted(catalogue["group"].unique())
print("table:", df.shape, "missing:", int(df[features].isna().sum().sum()))

train, test = train_test_split(df, test_size=0.25, random_state=SEED, stratify=df["returned"])
mean, std = train[features].mean(), train[features].std()


def tensors(part):
    x = ((part[features] - mean) / std).to_numpy(np.float32)
    return torch.from_numpy(x), torch.from_numpy(part["returned"].to_numpy(np.float32))


x_tr, y_tr = tensors(train)
x_te, y_te = tensors(test)


class Net(torch.nn.Module):
    def __init__(self, d, h=128):
        super().__init__()
        self.a = torch.nn.Linear(d, h)
        self.b = torch.nn.Linear(h, h)
        self.c = torch.nn.Linear(h, 1)

    def forward(self, x):
        x = F.relu(self.a(x))
        x = F.relu(self.b(x))
        return self.c(x)[:, 0]


net = Net(len(features))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(1, 501):
    pick = torch.randint(0, len(x_tr), (128,))
    loss = F.binary_cross_entropy_with_logits(net(x_tr[pick]), y_tr[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(f"step {step:4d}  loss {loss.item():.4f}")

net.eval()
with torch.no_grad():
    p = torch.sigmoid(net(x_te)).numpy()
acc = ((p > 0.5) == y_te.numpy().astype(bool)).mean()
print(f"test AUC {roc_auc_score(y_te.numpy(), p):.3f}  accuracy {acc:.3f}  (n={len(p)})")
