import json
import random

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import RobustScaler
from torch import nn

CFG = {"seed": 4, "epochs": 20, "batch": 50, "lr": 2e-3, "width": 48}
random.seed(CFG["seed"]); np.random.seed(CFG["seed"]); torch.manual_seed(CFG["seed"])
print(json.dumps(CFG))

train = pd.read_csv("loans_2021.csv")
test = pd.read_csv("loans_2022.csv")

y_train = train.pop("defaulted").to_numpy(np.float32)
y_test = test.pop("defaulted").to_numpy(np.float32)

money = ["amount", "months", "income"]
train[money] = np.log(train[money].astype(float))
test[money] = np.log(test[money].astype(float))
scaler = RobustScaler()
train[money] = scaler.fit_transform(train[money])
test[money] = scaler.transform(test[money])

X_train = pd.get_dummies(train, columns=["purpose", "employment"], dtype=np.float32)
X_test = pd.get_dummies(test, columns=["purpose", "employment"], dtype=np.float32)
print(X_train.shape, X_test.shape)

Xa = torch.tensor(X_train.to_numpy(np.float32))
Xb = torch.tensor(X_test.to_numpy(np.float32))
ya = torch.tensor(y_train)


def mlp(sizes):
    layers = []
    for i, o in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(i, o), nn.ReLU(), nn.Dropout(0.1)]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


net = mlp([Xa.shape[1], CFG["width"], CFG["width"], 1])
opt = torch.optim.Adam(net.parameters(), lr=CFG["lr"])
for epoch in range(CFG["epochs"]):
    net.train()
    epoch_loss = []
    for b in torch.randperm(len(Xa)).split(CFG["batch"]):
        loss = nn.functional.binary_cross_entropy_with_logits(net(Xa[b])[:, 0], ya[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss.append(loss.item())
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1}: {np.mean(epoch_loss):.4f}")

net.eval()
with torch.no_grad():
    out = torch.sigmoid(net(Xb)[:, 0]).numpy()
print("loans 2022: AUC %.3f, accuracy %.3f" % (roc_auc_score(y_test, out), np.mean((out > 0.5) == y_test)))
