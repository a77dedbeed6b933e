import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

torch.manual_seed(23)

df = pd.read_csv("renewals.csv", index_col="policy").sample(frac=1, random_state=23)
print(df.isna().mean().round(3).to_dict())

# no claim, no amount
df["no_amount"] = df["last_claim_eur"].isna().astype(float)
df["last_claim_eur"] = df["last_claim_eur"].fillna(0)
# direct customers have no broker: level 0
grade = df["broker_grade"].fillna("none")
levels = ["none", "A", "B", "C", "D"]
df["grade_id"] = grade.map(levels.index)

num = ["claims", "last_claim_eur", "years", "no_amount"]
n_fit = int(len(df) * 0.75)
fit, held = df.iloc[:n_fit], df.iloc[n_fit:]
lo, hi = fit[num].min(), fit[num].max()


def arrays(d):
    n = ((d[num] - lo) / (hi - lo)).to_numpy(np.float32)
    return (torch.tensor(n), torch.tensor(d["grade_id"].to_numpy(np.int64)),
            torch.tensor(d["renewed"].to_numpy(np.float32)))


class Renewal(nn.Module):
    def __init__(self):
        super().__init__()
        self.grade = nn.Embedding(len(levels), 3)
        self.mlp = nn.Sequential(nn.Linear(len(num) + 3, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, n, g):
        return self.mlp(torch.cat([n, self.grade(g)], dim=1)).squeeze(1)


net = Renewal()
optim = torch.optim.Adam(net.parameters(), lr=6e-3)
n, g, y = arrays(fit)
for epoch in range(25):
    for b in torch.randperm(n_fit).split(100):
        loss = nn.functional.binary_cross_entropy_with_logits(net(n[b], g[b]), y[b])
        optim.zero_grad()
        loss.backward()
        optim.step()
    if epoch % 8 == 0:
        with torch.no_grad():
            print(epoch, "training loss", round(nn.functional.binary_cross_entropy_with_logits(net(n, g), y).item(), 4))

with torch.no_grad():
    n, g, y = arrays(held)
    print(f"held-out AUC {roc_auc_score(y.numpy(), net(n, g).numpy()):.3f}")
