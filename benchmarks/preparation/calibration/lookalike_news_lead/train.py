"""Section of a news article from its lead. Articles are written with the essential first and
wander off later, so only the lead is given to the net."""
import csv
import random
import re

import torch
from torch import nn

LEAD = 24
STOP = set("the a an of in to and for on with that said was by at from has its after will".split())
random.seed(3)
torch.manual_seed(3)


def tokens(text):
    return [w for w in re.findall(r"[a-z]+", text.lower())[:LEAD] if w not in STOP]


with open("articles.csv", encoding="utf-8", newline="") as fh:
    articles = [(tokens(r["body"]), r["section"]) for r in csv.DictReader(fh)]
random.shuffle(articles)
train, test = articles[:1100], articles[1100:]
sections = sorted({s for _, s in train})
vocab = {w: i + 2 for i, w in enumerate(sorted({w for t, _ in train for w in t}))}
print(len(vocab), "words;", sections)


def matrix(part):
    ids = torch.zeros(len(part), LEAD, dtype=torch.long)
    for r, (t, _) in enumerate(part):
        row = [vocab.get(w, 1) for w in t]
        ids[r, :len(row)] = torch.tensor(row)
    return ids, torch.tensor([sections.index(s) for _, s in part])


class Lead(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(len(vocab) + 2, 24, mode="mean", padding_idx=0)
        self.mlp = nn.Sequential(nn.ReLU(), nn.Linear(24, len(sections)))

    def forward(self, ids):
        return self.mlp(self.bag(ids))


x, y = matrix(train)
xt, yt = matrix(test)
net = Lead()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(8):
    total = 0.0
    for b in torch.randperm(len(x)).split(50):
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    print(f"epoch {epoch + 1} loss {total / len(x):.4f}")
with torch.no_grad():
    print(f"test accuracy {(net(xt).argmax(1) == yt).float().mean():.3f}")
