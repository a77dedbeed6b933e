"""SMS spam with averaged word embeddings."""
import re
from collections import Counter

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
PAD, UNK = 0, 1
MAX_WORDS = 300


def tokenize(s):
    return re.findall(r"[a-z0-9']+", s.lower())


class TextData:
    def __init__(self, path, max_words=MAX_WORDS):
        self.labels, self.docs = [], []
        with open(path, encoding="utf-8") as f:
            for row in f:
                lab, txt = row.rstrip("\n").split("\t", 1)
                self.labels.append(1 if lab == "spam" else 0)
                self.docs.append(tokenize(txt))
        freq = Counter(w for d in self.docs for w in d)
        self.word2id = {w: i + 2 for i, (w, _) in enumerate(freq.most_common(max_words))}
        self.ids = [torch.tensor([self.word2id.get(w, UNK) for w in d]) for d in self.docs]

    def batches(self, size, shuffle=False):
        order = torch.randperm(len(self.ids)) if shuffle else torch.arange(len(self.ids))
        for part in order.split(size):
            x = pad_sequence([self.ids[i] for i in part], batch_first=True, padding_value=PAD)
            y = torch.tensor([self.labels[i] for i in part])
            yield x, y


class Model(nn.Module):
    def __init__(self, n_words, dim=24):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim, padding_idx=PAD)
        self.fc = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x):
        mask = (x != PAD).unsqueeze(-1).float()
        mean = (self.emb(x) * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.fc(mean)


def accuracy(model, data):
    model.eval()
    ok = 0
    with torch.no_grad():
        for x, y in data.batches(128):
            ok += (model(x).argmax(1) == y).sum().item()
    return ok / len(data.labels)


train_data = TextData("sms_train.txt")
test_data = TextData("sms_test.txt")
print("train words", len(train_data.word2id), "test words", len(test_data.word2id))

model = Model(MAX_WORDS + 2)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    model.train()
    total = 0.0
    for x, y in train_data.batches(32, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    print(f"epoch {epoch} loss {total / len(train_data.labels):.3f} "
          f"train acc {accuracy(model, train_data):.3f} test acc {accuracy(model, test_data):.3f}")
