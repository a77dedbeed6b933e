import numpy as np
import pandas as pd
import torch
from sklearn.impute import SimpleImputer
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from torch import nn

RNG = np.random.RandomState(5)
torch.manual_seed(5)

LAB = ["crp", "ferritin", "troponin", "sodium"]


def read_panel(path):
    panel = pd.read_csv(path, index_col="sample")
    for name in LAB:
        panel[name] = pd.to_numeric(panel[name], errors="coerce")
    return panel


panel = read_panel("panel.csv")
print(panel.describe().round(1).to_string())

is_test = RNG.rand(len(panel)) < 0.25
x_cols = ["age"] + LAB
prep = make_pipeline(
    SimpleImputer(strategy="median"),
    FunctionTransformer(np.log1p),
    StandardScaler(),
)
x_train = prep.fit_transform(panel.loc[~is_test, x_cols])
x_test = prep.transform(panel.loc[is_test, x_cols])
y_train = panel.loc[~is_test, "admitted"].to_numpy(np.float32)
y_test = panel.loc[is_test, "admitted"].to_numpy()


class Triage(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.l1 = nn.Linear(d, 24)
        self.l2 = nn.Linear(24, 24)
        self.l3 = nn.Linear(24, 1)

    def forward(self, x):
        h = torch.relu(self.l1(x))
        h = torch.relu(self.l2(h)) + h
        return self.l3(h)[:, 0]


net = Triage(len(x_cols))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)
xt = torch.as_tensor(x_train, dtype=torch.float32)
yt = torch.as_tensor(y_train, dtype=torch.float32)
for epoch in range(20):
    order = torch.randperm(len(xt))
    s = 0.0
    for b in order.split(64):
        loss = nn.functional.binary_cross_entropy_with_logits(net(xt[b]), yt[b])
        opt.zero_grad(); loss.backward(); opt.step()
        s += loss.item() * len(b)
    if (epoch + 1) % 10 == 0:
        print("epoch", epoch + 1, "loss", round(s / len(xt), 4))

with torch.no_grad():
    p = torch.sigmoid(net(torch.as_tensor(x_test, dtype=torch.float32))).numpy()
print("test average precision %.3f" % average_precision_score(y_test, p))
print("test AUC %.3f" % roc_auc_score(y_test, p))
