"""Early warning of sepsis on arrival. Three disjoint files of stays: fit, eval, report."""
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import confusion_matrix, precision_recall_curve
from sklearn.preprocessing import QuantileTransformer
from torch import nn

torch.manual_seed(5)
COLS = ["age", "lactate", "hr", "rr", "sbp", "temp", "wbc"]
parts = {p: pd.read_csv(f"stays_{p}.csv") for p in ("fit", "eval", "report")}
ids = [set(p["stay"]) for p in parts.values()]
assert not (ids[0] & ids[1] or ids[0] & ids[2] or ids[1] & ids[2])

qt = QuantileTransformer(n_quantiles=200, output_distribution="normal", random_state=0).fit(parts["fit"][COLS])
x = {p: torch.tensor(qt.transform(d[COLS]), dtype=torch.float32) for p, d in parts.items()}
y = {p: torch.tensor(d["sepsis"].to_numpy(), dtype=torch.float32) for p, d in parts.items()}
print({p: (len(v), round(v.mean().item(), 3)) for p, v in y.items()})

net = nn.Sequential(nn.Linear(len(COLS), 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
best = (np.inf, None)
for epoch in range(40):
    for b in torch.randperm(len(x["fit"])).split(64):
        opt.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(net(x["fit"][b])[:, 0], y["fit"][b])
        loss.backward()
        opt.step()
    with torch.no_grad():
        ev = nn.functional.binary_cross_entropy_with_logits(net(x["eval"])[:, 0], y["eval"]).item()
    if ev < best[0]:
        best = (ev, {k: v.clone() for k, v in net.state_dict().items()})
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1} eval loss {ev:.4f}")
net.load_state_dict(best[1])

with torch.no_grad():
    prob = {p: torch.sigmoid(net(v)[:, 0]).numpy() for p, v in x.items()}

# alarm level: best F1
prec, rec, level = precision_recall_curve(y["eval"].numpy(), prob["eval"])
f1 = 2 * prec * rec / np.maximum(prec + rec, 1e-9)
alarm = level[f1[:-1].argmax()]

tn, fp, fn, tp = confusion_matrix(y["report"].numpy(), prob["report"] >= alarm).ravel()
print(f"alarm level {alarm:.3f}  sensitivity {tp / (tp + fn):.3f}  precision {tp / (tp + fp):.3f}")
print(f"F1 {2 * tp / (2 * tp + fp + fn):.3f}")
