"""Loan defaults. Codes of the bank: income -999 not stated, days_since_contact -1 never contacted."""
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(31)
df = pd.read_csv("loans.csv")
train, test = train_test_split(df, test_size=0.3, random_state=31, stratify=df["defaulted"])

jobs = pd.Index(train["job"].dropna().unique()).sort_values()


def job_codes(part):
    # unknown and unseen jobs share slot 0
    return torch.tensor(jobs.get_indexer(part["job"]) + 1)


typical = np.log(train.loc[train["stated_income"] >= 0, "stated_income"]).median()


def numbers(part):
    income = part["stated_income"].to_numpy(float)
    silent = income == -999
    logi = np.where(silent, typical, np.log(np.where(silent, 1.0, income))) - typical
    days = part["days_since_contact"].to_numpy(float)
    fresh = np.where(days == -1, 0.0, np.exp(-np.maximum(days, 0) / 60))
    cols = [logi * 2, silent, fresh, days == -1, np.log1p(part["late_payments"]), part["utilisation"], part["months_customer"] / 45]
    return torch.tensor(np.column_stack([np.asarray(c, float) for c in cols]), dtype=torch.float32)


class Net(nn.Module):
    def __init__(self, n_jobs, n_num):
        super().__init__()
        self.job = nn.Embedding(n_jobs + 1, 3)
        self.body = nn.Sequential(nn.Linear(n_num + 3, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, j, x):
        return self.body(torch.cat([self.job(j), x], dim=1)).squeeze(1)


ja, xa, ya = job_codes(train), numbers(train), torch.tensor(train["defaulted"].to_numpy(), dtype=torch.float32)
jb, xb, yb = job_codes(test), numbers(test), test["defaulted"].to_numpy()
net = Net(len(jobs), xa.shape[1])
opt = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
for epoch in range(15):
    net.train()
    total = 0.0
    for b in torch.randperm(len(ya)).split(64):
        loss = nn.functional.binary_cross_entropy_with_logits(net(ja[b], xa[b]), ya[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / len(ya):.4f}")
net.eval()
with torch.no_grad():
    p = net(jb, xb).numpy()
print(f"test AUC {roc_auc_score(yb, p):.3f}")
