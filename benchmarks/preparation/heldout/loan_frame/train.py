import argparse

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)

loans = pd.read_csv("loans.csv")
print("read", len(loans), "loans")
loans = loans.dropna(subset=["income"])
print("with a stated income:", len(loans))

numeric = ["income", "age", "amount"]
categorical = ["purpose", "region"]

loans["income"] = np.log(loans["income"])
loans["amount"] = np.log(loans["amount"])

enc = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
codes = enc.fit_transform(loans[categorical])
codes = pd.DataFrame(codes, columns=enc.get_feature_names_out(categorical))
features = loans[numeric].join(codes).fillna(0.0)
target = loans["defaulted"]

X_tr, X_te, y_tr, y_te = train_test_split(
    features, target, test_size=0.3, random_state=args.seed, stratify=target)
sc = StandardScaler().fit(X_tr[numeric])
for part in (X_tr, X_te):
    part[numeric] = sc.transform(part[numeric])


def tensor(a):
    return torch.tensor(np.asarray(a), dtype=torch.float32)


model = nn.Sequential(
    nn.Linear(features.shape[1], 32), nn.ReLU(),
    nn.Linear(32, 16), nn.ReLU(),
    nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
loss_fn = nn.BCEWithLogitsLoss()
xt, yt = tensor(X_tr), tensor(y_tr)

for epoch in range(args.epochs):
    perm = torch.randperm(len(xt))
    running = []
    for chunk in perm.split(64):
        optimizer.zero_grad()
        loss = loss_fn(model(xt[chunk]).squeeze(1), yt[chunk])
        loss.backward()
        optimizer.step()
        running.append(loss.item())
    if epoch % 5 == 4:
        print(f"[{epoch + 1}/{args.epochs}] loss={np.mean(running):.4f}")

model.eval()
with torch.no_grad():
    score = torch.sigmoid(model(tensor(X_te)).squeeze(1)).numpy()
print("test AUC %.3f" % roc_auc_score(y_te, score))
