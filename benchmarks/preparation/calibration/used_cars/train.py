import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)

NUM = ["age", "km_thousand", "hp"]
CAT = ["fuel", "gear"]


def load(path):
    ads = pd.read_csv(path)
    # placeholders such as "1 EUR - make an offer" and ads without mileage or power are of no use
    ads = ads[ads["price"] > 200]
    ads = ads.dropna(subset=NUM)
    return ads


def build(ads, scaler):
    num = pd.DataFrame(scaler.transform(ads[NUM]), columns=NUM)
    cat = pd.DataFrame(index=ads.index)
    for col, levels in (("fuel", ["diesel", "hybrid", "petrol"]), ("gear", ["automatic", "manual"])):
        for lev in levels:
            cat[f"{col}_{lev}"] = (ads[col] == lev).astype("float32")
    X = pd.concat([num, cat], axis=1, join="inner")
    y = np.log(ads.loc[X.index, "price"])
    return X.to_numpy("float32"), y.to_numpy("float32")


train_ads, test_ads = load("ads_train.csv"), load("ads_test.csv")
scaler = StandardScaler().fit(train_ads[NUM])
X_train, y_train = build(train_ads, scaler)
X_test, y_test = build(test_ads, scaler)
print("train", X_train.shape, "test", X_test.shape)

offset = y_train.mean()
loader = DataLoader(TensorDataset(torch.tensor(X_train), torch.tensor(y_train - offset)), batch_size=64, shuffle=True)


class PriceNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


model = PriceNet(X_train.shape[1])
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(25):
    losses = []
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: mse(log price) {np.mean(losses):.4f}")

model.eval()
with torch.no_grad():
    log_pred = model(torch.tensor(X_test)).numpy() + offset
mape = np.mean(np.abs(np.exp(log_pred) - np.exp(y_test)) / np.exp(y_test))
print(f"test MAPE: {100 * mape:.1f} %")
