import json
import random
import torch
from torch import nn

random.seed(2)
torch.manual_seed(2)
notes = json.load(open("notes.json"))
random.shuffle(notes)
train, test = notes[:800], notes[800:]
TAGS = ["O", "PER", "LOC", "NUM"]


def shape(tok):
    return "<num>" if tok.isdigit() else tok


vocab = {"<pad>": 0, "<unk>": 1}
for n in train:
    for t in n["tokens"]:
        vocab.setdefault(shape(t), len(vocab))


def batches(data, size, shuffle):
    order = list(range(len(data)))
    if shuffle:
        random.shuffle(order)
    for k in range(0, len(order), size):
        part = [data[i] for i in order[k:k + size]]
        width = max(len(n["tokens"]) for n in part)
        x = torch.zeros(len(part), width, dtype=torch.long)
        y = torch.zeros(len(part), width, dtype=torch.long)
        m = torch.zeros(len(part), width)
        for r, n in enumerate(part):
            ln = len(n["tokens"])
            x[r, :ln] = torch.tensor([vocab.get(shape(t), 1) for t in n["tokens"]])
            y[r, :ln] = torch.tensor([TAGS.index(t) for t in n["tags"]])
            m[r, :ln] = 1.0
        yield x, y, m


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), 32)
        self.conv = nn.Conv1d(32, 48, 5, padding=2)
        self.out = nn.Linear(48, len(TAGS))

    def forward(self, x, m):
        h = self.emb(x) * m[..., None]
        h = torch.relu(self.conv(h.transpose(1, 2))).transpose(1, 2)
        return self.out(h)


net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(8):
    net.train()
    tot = cnt = 0.0
    for x, y, m in batches(train, 32, True):
        ce = nn.functional.cross_entropy(net(x, m).transpose(1, 2), y, reduction="none")
        loss = (ce * m).sum() / m.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += (ce * m).sum().item()
        cnt += m.sum().item()
    print("epoch %d loss %.4f" % (epoch, tot / cnt))

net.eval()
hit = {t: 0.0 for t in TAGS}
num = {t: 0.0 for t in TAGS}
with torch.no_grad():
    for x, y, m in batches(test, 100, False):
        ok = (net(x, m).argmax(-1) == y).float() * m
        for k, t in enumerate(TAGS):
            hit[t] += (ok * (y == k)).sum().item()
            num[t] += (m * (y == k)).sum().item()
print({t: round(hit[t] / num[t], 3) for t in TAGS})
print("test accuracy %.4f over %d words" % (sum(hit.values()) / sum(num.values()), sum(num.values())))
