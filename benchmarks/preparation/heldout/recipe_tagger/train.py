import random

import torch
from torch import nn, optim

random.seed(4)
torch.manual_seed(4)
PAD = 0


def read_conll(path):
    sents, words, tags = [], [], []
    for line in open(path):
        line = line.rstrip("\n")
        if line:
            w, t = line.split("\t")
            words.append(w)
            tags.append(t)
        elif words:
            sents.append((words, tags))
            words, tags = [], []
    return sents


def index(items, first):
    table = {f: i for i, f in enumerate(first)}
    for it in items:
        table.setdefault(it, len(table))
    return table


def collate(sents):
    longest = max(len(w) for w, _ in sents)
    x = torch.full((len(sents), longest), PAD)
    y = torch.full((len(sents), longest), PAD)
    for i, (w, t) in enumerate(sents):
        x[i, :len(w)] = torch.tensor([w2i.get(v, 1) for v in w])
        y[i, :len(t)] = torch.tensor([t2i[v] for v in t])
    return x, y


train, test = read_conll("steps.train.conll"), read_conll("steps.test.conll")
w2i = index((w for s, _ in train for w in s), ["<pad>", "<unk>"])
t2i = index((t for _, s in train for t in s), ["<pad>"])
print(len(train), "steps for training,", len(test), "for testing,", len(w2i), "words,", len(t2i), "tags")


class Tagger(nn.Module):
    def __init__(self, d=24, h=24):
        super().__init__()
        self.emb = nn.Embedding(len(w2i), d, padding_idx=PAD)
        self.lstm = nn.LSTM(d, h, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * h, len(t2i))

    def forward(self, x):
        return self.out(self.lstm(self.emb(x))[0])


def score(model, sents, size=50):
    model.eval()
    right = count = 0
    with torch.no_grad():
        for i in range(0, len(sents), size):
            x, y = collate(sents[i:i + size])
            pred = model(x).argmax(-1)
            right += (pred == y).sum().item()
            count += y.numel()
    return right / count


tagger = Tagger()
opt = optim.Adam(tagger.parameters(), lr=4e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(5):
    random.shuffle(train)
    tagger.train()
    tot, steps = 0, 0
    for i in range(0, len(train), 35):
        x, y = collate(train[i:i + 35])
        loss = loss_fn(tagger(x).transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
        steps += 1
    print(f"epoch {epoch}: loss {tot / steps:.4f}, test tag accuracy {score(tagger, test):.4f}")
