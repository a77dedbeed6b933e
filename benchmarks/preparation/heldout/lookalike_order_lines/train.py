# Which order lines arrive damaged? One sample per line, with what is known of its order.
import torch
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupShuffleSplit
from torch import nn

from query import fetch

torch.manual_seed(20)
order_id, x, y = fetch()
splitter = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=20)
train, test = next(splitter.split(x, y, groups=order_id))
mean, std = x[train].mean(0), x[train].std(0)
x = torch.from_numpy((x - mean) / std)
t = torch.from_numpy(y)

net = nn.Sequential(nn.Linear(x.shape[1], 24), nn.LeakyReLU(), nn.Linear(24, 24), nn.LeakyReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
train = torch.from_numpy(train)
for epoch in range(20):
    total = 0.0
    for b in train[torch.randperm(len(train))].split(64):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[b])[:, 0], t[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}  loss {total / len(train):.4f}")

with torch.no_grad():
    print(f"AUC on lines of other orders: {roc_auc_score(y[test], net(x[test])[:, 0].numpy()):.3f}")
