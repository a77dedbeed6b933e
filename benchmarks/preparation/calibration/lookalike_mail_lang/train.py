import json
import string

import torch
import torch.nn as nn

torch.manual_seed(11)
ALPHABET = string.ascii_lowercase + " "
MAX_CHARS = 60   # below the first lines there are only quoted mails and footers

char2id = {c: i + 1 for i, c in enumerate(ALPHABET)}
records = [json.loads(l) for l in open("mails.jsonl")]
langs = sorted({r["lang"] for r in records})


def vectorise(text):
    ids = [char2id[c] for c in text.lower()[:MAX_CHARS] if c in char2id]
    return ids + [0] * (MAX_CHARS - len(ids))


X = torch.tensor([vectorise(r["text"]) for r in records])
y = torch.tensor([langs.index(r["lang"]) for r in records])
n_test = 400
X_test, y_test, X_train, y_train = X[:n_test], y[:n_test], X[n_test:], y[n_test:]


class CharCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHABET) + 1, 12, padding_idx=0)
        self.conv = nn.Conv1d(12, 32, 4)
        self.out = nn.Linear(32, len(langs))

    def forward(self, x):
        h = torch.relu(self.conv(self.emb(x).transpose(1, 2)))
        return self.out(h.amax(2))


net = CharCNN()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(6):
    for idx in torch.randperm(len(X_train)).split(32):
        loss = nn.functional.cross_entropy(net(X_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (net(X_test).argmax(1) == y_test).float().mean()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} test accuracy {acc:.4f}")
