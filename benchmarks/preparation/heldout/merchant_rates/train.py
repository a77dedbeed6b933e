import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score

torch.manual_seed(6)
rng = np.random.default_rng(6)


class RateEncoder:
    """Replaces a key by a smoothed mean of the target."""

    def __init__(self, smooth=1.0):
        self.smooth = smooth

    def fit(self, keys, target):
        self.prior = target.mean()
        g = target.groupby(keys).agg(["sum", "count"])
        self.rate = (g["sum"] + self.smooth * self.prior) / (g["count"] + self.smooth)
        return self

    def transform(self, keys):
        return keys.map(self.rate).fillna(self.prior)

    def fit_transform(self, keys, target):
        return self.fit(keys, target).transform(keys)


orders = pd.read_csv("basket.csv", index_col="order")
in_test = pd.Series(rng.random(len(orders)) < 0.3, index=orders.index)
print(f"{len(orders)} orders of {orders['shop'].nunique()} shops, {in_test.sum()} for the test")

for key in ("shop", "courier"):
    orders[key + "_rate"] = RateEncoder().fit_transform(orders[key], orders["returned"])

inputs = ["shop_rate", "courier_rate", "items", "value"]
fit_part, test_part = orders[~in_test], orders[in_test]
center, width = fit_part[inputs].mean(), fit_part[inputs].std()
tx = lambda d: torch.tensor(((d[inputs] - center) / width).values, dtype=torch.float32)
x, y = tx(fit_part), torch.tensor(fit_part["returned"].values, dtype=torch.float32)

weights = [torch.nn.Parameter(torch.randn(4, 12) * 0.4), torch.nn.Parameter(torch.zeros(12)),
           torch.nn.Parameter(torch.randn(12, 1) * 0.3), torch.nn.Parameter(torch.zeros(1))]


def net(v):
    return (torch.tanh(v @ weights[0] + weights[1]) @ weights[2] + weights[3]).squeeze(1)


opt = torch.optim.Adam(weights, lr=0.01)
for step in range(800):
    b = torch.from_numpy(rng.integers(0, len(x), 128))
    loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x[b]), y[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 199:
        print("step", step + 1, "loss", round(loss.item(), 4))

with torch.no_grad():
    auc = roc_auc_score(test_part["returned"], net(tx(test_part)).numpy())
print(f"test AUC {auc:.3f}")
