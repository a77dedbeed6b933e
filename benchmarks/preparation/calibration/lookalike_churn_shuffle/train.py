import pandas as pd
import torch
import torch.nn as nn

SEED = 7
EPOCHS = 20
BATCH = 64
torch.manual_seed(SEED)

df = pd.read_csv("churn.csv")
X = df.drop(columns=["customer", "churn"])
y = (df["churn"] == "Yes").astype("float32")
X["contract"] = X["contract"].map({"monthly": 0, "yearly": 1, "two years": 2})

# file is sorted by churn, so mix it
X = X.sample(frac=1, random_state=SEED).reset_index(drop=True)
y = y.sample(frac=1, random_state=SEED).reset_index(drop=True)

n = int(len(X) * 0.75)
mean, std = X[:n].mean(), X[:n].std()
X = ((X - mean) / std).to_numpy("float32")
x_tr, x_te = torch.tensor(X[:n]), torch.tensor(X[n:])
y_tr, y_te = torch.tensor(y[:n].to_numpy()), torch.tensor(y[n:].to_numpy())
print("churn share train %.3f test %.3f" % (y_tr.mean(), y_te.mean()))

model = nn.Sequential(nn.Linear(X.shape[1], 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(EPOCHS):
    total = 0.0
    for idx in torch.randperm(n).split(BATCH):
        opt.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x_tr[idx]).squeeze(1), y_tr[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 5 == 4:
        with torch.no_grad():
            acc = ((model(x_te).squeeze(1) > 0) == (y_te > 0.5)).float().mean()
        print("epoch %d loss %.4f test accuracy %.4f" % (epoch + 1, total / n, acc))

with torch.no_grad():
    guess = model(x_te).squeeze(1) > 0
print(pd.crosstab(y_te.numpy() > 0.5, guess.numpy(), rownames=["churned"], colnames=["predicted"]))
