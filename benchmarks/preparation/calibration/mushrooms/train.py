import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(0)
torch.manual_seed(0)

train = pd.read_csv("train.csv", index_col="id")
test = pd.read_csv("test.csv", index_col="id")
TARGET = "poisonous"
cat_cols = [c for c in train.columns if not pd.api.types.is_numeric_dtype(train[c]) and c != TARGET]
num_cols = [c for c in train.columns if pd.api.types.is_numeric_dtype(train[c])]
print("categorical:", cat_cols)
print("numeric:", num_cols)

sizes = []
for c in cat_cols:
    train[c], names = pd.factorize(train[c])
    test[c], _ = pd.factorize(test[c])
    sizes.append(len(names))

y_train = (train[TARGET] == "yes").astype(int).values
y_test = (test[TARGET] == "yes").astype(int).values

mean, std = train[num_cols].mean(), train[num_cols].std()
cat_train = torch.tensor(train[cat_cols].values, dtype=torch.long)
cat_test = torch.tensor(test[cat_cols].values, dtype=torch.long).clamp(min=0)
num_train = torch.tensor(((train[num_cols] - mean) / std).values, dtype=torch.float32)
num_test = torch.tensor(((test[num_cols] - mean) / std).values, dtype=torch.float32)


class TabularNet(nn.Module):
    """entity embeddings + numeric columns"""

    def __init__(self, sizes, n_num):
        super().__init__()
        self.embs = nn.ModuleList(nn.Embedding(s, min(8, (s + 1) // 2 + 1)) for s in sizes)
        d = sum(e.embedding_dim for e in self.embs) + n_num
        self.fc1 = nn.Linear(d, 64)
        self.drop = nn.Dropout(0.1)
        self.fc2 = nn.Linear(64, 2)

    def forward(self, xc, xn):
        z = torch.cat([e(xc[:, i]) for i, e in enumerate(self.embs)] + [xn], dim=1)
        return self.fc2(self.drop(F.relu(self.fc1(z))))


net = TabularNet(sizes, len(num_cols))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
target = torch.tensor(y_train)
for epoch in range(15):
    net.train()
    losses = []
    for idx in np.array_split(np.random.permutation(len(target)), 40):
        idx = torch.from_numpy(idx)
        loss = F.cross_entropy(net(cat_train[idx], num_train[idx]), target[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 5 == 4:
        print("epoch", epoch + 1, "loss %.4f" % np.mean(losses))

net.eval()
with torch.no_grad():
    train_acc = (net(cat_train, num_train).argmax(1).numpy() == y_train).mean()
    test_acc = (net(cat_test, num_test).argmax(1).numpy() == y_test).mean()
print("train accuracy: %.4f" % train_acc)
print("test accuracy: %.4f" % test_acc)
