"""Which member of the household is speaking?"""
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)

clips = pd.read_csv("voice_features.csv")
columns = [c for c in clips.columns if c.startswith("mfcc")]
members = sorted(clips["member"].unique())
clips["who"] = clips["member"].map({m: i for i, m in enumerate(members)})

enrol = clips[clips["session"] <= 4]
later = clips[clips["session"] == 5]
print(f"{len(members)} members; {len(enrol)} clips for learning, {len(later)} for the test")
print("members in both parts:", len(set(enrol["member"]) & set(later["member"])))

mean, std = enrol[columns].mean(), enrol[columns].std()


def as_set(part):
    x = ((part[columns] - mean) / std).to_numpy(np.float32)
    return TensorDataset(torch.tensor(x), torch.tensor(part["who"].to_numpy(copy=True)))


net = nn.Sequential(nn.Linear(len(columns), 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, len(members)))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(10):
    net.train()
    total = 0.0
    for x, y in DataLoader(as_set(enrol), batch_size=64, shuffle=True):
        loss = nn.functional.cross_entropy(net(x), y, label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    if epoch % 3 == 0:
        print(f"epoch {epoch + 1}: loss {total / len(enrol):.3f}")

net.eval()
x, y = as_set(later).tensors
with torch.no_grad():
    print(f"accuracy in the new session: {(net(x).argmax(1) == y).float().mean().item():.3f}")
