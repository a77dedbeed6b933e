import numpy as np
import torch
from torch import nn

from load import load_table, feature_columns

torch.manual_seed(3)

df = load_table()
df["day"] = df["day"].astype("datetime64[s]")
df = df.sort_values("day")
cols = feature_columns(df)
cut = df["day"].quantile(0.8)
train, test = df[df["day"] <= cut], df[df["day"] > cut]
print(f"{len(train)} training days, {len(test)} test days, {len(cols)} columns")

mu, sd = train[cols].mean(), train[cols].std().replace(0, 1)


def tensors(part):
    x = ((part[cols] - mu) / sd).to_numpy("float32")
    y = np.log1p(part["turnover"].to_numpy("float32"))
    return torch.from_numpy(x), torch.from_numpy(y)


xtr, ytr = tensors(train)
xte, yte = tensors(test)
centre = ytr.mean()


class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.l1 = nn.Linear(d, 48)
        self.l2 = nn.Linear(48, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        x = torch.relu(self.l2(x))
        return self.out(x).squeeze(1)


net = Net(len(cols))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for ep in range(1, 41):
    order = torch.randperm(len(xtr))
    losses = []
    for b in order.split(64):
        loss = nn.functional.smooth_l1_loss(net(xtr[b]), ytr[b] - centre)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if ep % 10 == 0:
        print(f"epoch {ep:3d} loss {np.mean(losses):.4f}")

with torch.no_grad():
    pred = torch.expm1(net(xte) + centre)
real = torch.expm1(yte)
print(f"test MAPE {((pred - real).abs() / real).mean().item():.4f}")
