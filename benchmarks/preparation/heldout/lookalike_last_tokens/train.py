from collections import Counter

import torch
from torch import nn

# How did the chat end? What was said in the last minute tells; openings repeat each other.
KEEP = 28
torch.manual_seed(3)

rows = [line.rstrip("\n").split("\t") for line in open("chats.tsv")]
labels = sorted({r[0] for r in rows})
docs = [r[1].split() for r in rows]
lengths = [len(d) for d in docs]
print(f"{len(docs)} chats, words: median {sorted(lengths)[len(docs) // 2]}, longest {max(lengths)}; the last {KEEP} are used")

n_train = 750
count = Counter(w for d in docs[:n_train] for w in d)
stoi = {w: i + 2 for i, (w, _) in enumerate(count.most_common(200))}


def vector(d):
    ids = [stoi.get(w, 1) for w in d][-KEEP:]
    return [0] * (KEEP - len(ids)) + ids


X = torch.tensor([vector(d) for d in docs])
Y = torch.tensor([labels.index(r[0]) for r in rows])


class Chat(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(len(stoi) + 2, 24, padding_idx=0)
        self.g = nn.GRU(24, 32, batch_first=True)
        self.o = nn.Linear(32, len(labels))

    def forward(self, x):
        return self.o(self.g(self.e(x))[1][0])


net = Chat()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for ep in range(8):
    for b in torch.randperm(n_train).split(25):
        loss = nn.functional.cross_entropy(net(X[b]), Y[b])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    with torch.no_grad():
        acc = (net(X[n_train:]).argmax(1) == Y[n_train:]).float().mean().item()
    print(f"epoch {ep + 1}: loss {loss.item():.3f}, accuracy on later chats {acc:.3f}")
