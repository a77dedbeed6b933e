"""Kind of place from its name, character by character."""
import csv
import random

import torch
from torch import nn

SEED = 64
torch.manual_seed(SEED)
ALPHABET = "abcdefghijklmnopqrstuvwxyz"

names, kinds = [], []
with open("places.csv", newline="") as fh:
    for row in csv.DictReader(fh):
        names.append(row["name"].lower())
        kinds.append(row["kind"])

random.Random(SEED).shuffle(names)
random.Random(SEED).shuffle(kinds)

classes = sorted(set(kinds))
longest = max(map(len, names))


def one_name(name):
    ids = [ALPHABET.index(c) + 1 for c in reversed(name)]
    return ids + [0] * (longest - len(ids))


x = torch.tensor([one_name(n) for n in names])
y = torch.tensor([classes.index(k) for k in kinds])
n_test = 480
x_test, y_test, x_train, y_train = x[:n_test], y[:n_test], x[n_test:], y[n_test:]
print(len(x_train), "for training,", len(x_test), "for the test,", classes)


class NameNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHABET) + 1, 12, padding_idx=0)
        self.conv = nn.Conv1d(12, 48, 3)
        self.fc = nn.Linear(48, len(classes))

    def forward(self, ids):
        h = torch.relu(self.conv(self.emb(ids).transpose(1, 2)))
        return self.fc(h.max(dim=2).values)


net = NameNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    total = 0.0
    for b in torch.randperm(len(x_train)).split(64):
        loss = nn.functional.cross_entropy(net(x_train[b]), y_train[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    print(f"epoch {epoch + 1}: {total / len(x_train):.4f}")

net.eval()
with torch.no_grad():
    print(f"test accuracy {(net(x_test).argmax(1) == y_test).float().mean().item():.3f}")
