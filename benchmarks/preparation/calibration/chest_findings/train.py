"""
Five findings from sixteen image measurements.

studies_reports.csv  findings as mined from the reports (1 present, 0 absent, -1 cannot say, empty: not mentioned)
studies_panel.csv    findings read by a panel for every study, used for the score
"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import f1_score, roc_auc_score

FINDINGS = ["effusion", "edema", "cardiomegaly", "atelectasis", "pneumonia"]
SITES = ["A", "B", "C", "D"]


def inputs(df):
    q = df.filter(regex=r"^q\d\d$").to_numpy(np.float32)
    site = (df["site"].to_numpy()[:, None] == np.array(SITES)).astype(np.float32)
    return torch.from_numpy(np.hstack([q, site]))


def labels(df):
    y = df[FINDINGS].fillna(0).clip(lower=0)
    return torch.from_numpy(y.to_numpy(np.float32))


def loss_of(logits, y):
    return F.binary_cross_entropy_with_logits(logits, y)


def make_net(n_in, n_out):
    return nn.Sequential(
        nn.Linear(n_in, 48), nn.LayerNorm(48), nn.GELU(), nn.Dropout(0.1),
        nn.Linear(48, n_out))


def train(net, x, y, epochs=20, bs=64):
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    for epoch in range(epochs):
        net.train()
        acc = 0.0
        for b in torch.randperm(len(x)).split(bs):
            loss = loss_of(net(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            acc += loss.item() * len(b)
        if (epoch + 1) % 5 == 0:
            print(f"  epoch {epoch + 1:2d}: {acc / len(x):.4f}")


def main():
    torch.manual_seed(10)
    reports, panel = pd.read_csv("studies_reports.csv"), pd.read_csv("studies_panel.csv")
    print(reports[FINDINGS].apply(lambda c: c.value_counts(dropna=False)).T)
    x, y = inputs(reports), labels(reports)
    net = make_net(x.shape[1], len(FINDINGS))
    train(net, x, y)

    net.eval()
    with torch.no_grad():
        p = torch.sigmoid(net(inputs(panel))).numpy()
    truth = panel[FINDINGS].to_numpy()
    for k, name in enumerate(FINDINGS):
        print(f"  {name:13s} AUC {roc_auc_score(truth[:, k], p[:, k]):.3f}")
    print(f"panel macro F1 {f1_score(truth, p > 0.5, average='macro'):.3f}")


if __name__ == "__main__":
    main()
