import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(49)
CLASSES = ["thin", "thick", "torn"]

sheets = pd.read_csv("films.csv", index_col="sheet")
verdicts = pd.read_csv("verdicts.csv", index_col="sheet")["verdict"]

sheets = sheets[sheets["spoilt"] == 0].drop(columns="spoilt")
sheets = sheets.sample(frac=1.0, random_state=49)
verdicts = verdicts.sort_values()

sheets["target"] = verdicts.map(CLASSES.index)
assert sheets["target"].notna().all()
print(len(sheets), "sheets of", len(verdicts), "with a verdict")
print(sheets["target"].value_counts().to_dict())

measures = [c for c in sheets.columns if c.startswith("m")]
part = np.arange(len(sheets)) % 5
train, test = sheets[part != 0], sheets[part == 0]
centre, spread = train[measures].mean(), train[measures].std()


def to_torch(frame):
    x = (frame[measures] - centre) / spread
    return torch.tensor(x.to_numpy(np.float32)), torch.tensor(frame["target"].to_numpy(np.int64))


x, y = to_torch(train)
net = nn.Sequential(nn.Linear(len(measures), 32), nn.ReLU(), nn.Linear(32, len(CLASSES)))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(15):
    total = 0.0
    for b in torch.randperm(len(x)).split(64):
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / len(x):.4f}")

x, y = to_torch(test)
with torch.no_grad():
    acc = (net(x).argmax(1) == y).float().mean().item()
print(f"test accuracy {acc:.3f}")
