import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

torch.manual_seed(21)

clients = pd.read_parquet("clients.parquet")
orders = pd.read_csv("orders.csv", dtype={"client": "int64"})
per_client = orders.groupby("client").agg(n_orders=("amount", "size"), spent=("amount", "sum"), returns=("returned", "sum"))

df = clients.merge(per_client, left_on="client", right_index=True, how="left", validate="one_to_one")
print("clients without orders:", int(df["n_orders"].isna().sum()), "of", len(df))
df[["n_orders", "spent", "returns"]] = df[["n_orders", "spent", "returns"]].fillna(0)

y = df.pop("renewed").to_numpy("float32")
X = df.drop(columns="client").to_numpy("float32")
xa, xb, ya, yb = train_test_split(X, y, test_size=0.25, random_state=21)
mu, sd = xa.mean(0), xa.std(0)
xa, xb = torch.tensor((xa - mu) / sd), torch.tensor((xb - mu) / sd)
ya = torch.tensor(ya)

net = nn.Sequential(nn.Linear(X.shape[1], 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for ep in range(30):
    for i in torch.randperm(len(xa)).split(100):
        loss = nn.functional.binary_cross_entropy_with_logits(net(xa[i]).flatten(), ya[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if ep % 10 == 9:
        with torch.no_grad():
            print("epoch", ep + 1, "loss %.4f" % loss.item(), "test AUC %.4f" % roc_auc_score(yb, net(xb).flatten()))

with torch.no_grad():
    p = torch.sigmoid(net(xb).flatten()).numpy()
print("test accuracy %.4f" % ((p > 0.5) == yb).mean())
for name, sel in (("share of the likely renewals found", yb == 1), ("false alarms", yb == 0)):
    print(f"{name}: {(p[sel] > 0.5).mean():.3f}")
