import random
from collections import Counter

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CFG = {
    "seed": 1,
    "vocab_size": 700,
    "embed_dim": 64,
    "dropout": 0.8,
    "batch_size": 50,
    "epochs": 8,
    "lr": 5e-3,
    "label_smoothing": 0.1,
    "n_train": 3000,
    "n_test": 1000,
}

random.seed(CFG["seed"])
torch.manual_seed(CFG["seed"])


# ---------------------------------------------------------------- corpus
def make_word(rng):
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 3)))


def make_corpus(n, rng, lexicon):
    good, bad, neutral = lexicon
    rows = []
    for _ in range(n):
        label = rng.randint(0, 1)
        words = []
        for _ in range(rng.randint(12, 40)):
            u = rng.random()
            if u < 0.22:
                words.append(rng.choice(good if label else bad))
            elif u < 0.30:
                words.append(rng.choice(bad if label else good))
            else:
                words.append(rng.choice(neutral))
        rows.append((" ".join(words), label))
    return rows


word_rng = random.Random(99)
words = sorted({make_word(word_rng) for _ in range(900)})
word_rng.shuffle(words)
lexicon = (words[:100], words[100:200], words[200:600])

train_rows = make_corpus(CFG["n_train"], random.Random(10), lexicon)
test_rows = make_corpus(CFG["n_test"], random.Random(11), lexicon)


# ---------------------------------------------------------------- dataset
class ReviewDataset(Dataset):
    PAD, UNK = 0, 1

    def __init__(self, rows, vocab=None):
        self.rows = [(text.split(), label) for text, label in rows]
        if vocab is None:
            counts = Counter(w for toks, _ in self.rows for w in toks)
            vocab = {w: i + 2 for i, (w, _) in enumerate(counts.most_common(CFG["vocab_size"] - 2))}
        self.vocab = vocab

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        toks, label = self.rows[i]
        return [self.vocab.get(t, self.UNK) for t in toks], label


def collate(batch):
    flat, offsets, labels = [], [], []
    for ids, label in batch:
        offsets.append(len(flat))
        flat.extend(ids)
        labels.append(label)
    return torch.tensor(flat), torch.tensor(offsets), torch.tensor(labels)


train_ds = ReviewDataset(train_rows)
test_ds = ReviewDataset(test_rows)
train_dl = DataLoader(train_ds, batch_size=CFG["batch_size"], shuffle=True, collate_fn=collate)
test_dl = DataLoader(test_ds, batch_size=200, collate_fn=collate)
print(f"{len(train_ds)} train / {len(test_ds)} test reviews, {len(train_ds.vocab)} words in the vocabulary")


# ---------------------------------------------------------------- model
class BagClassifier(nn.Module):
    def __init__(self, n_words, dim, p):
        super().__init__()
        self.bag = nn.EmbeddingBag(n_words, dim, mode="mean")
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(dim, 2)

    def forward(self, flat, offsets):
        return self.out(self.drop(self.bag(flat, offsets)))


net = BagClassifier(CFG["vocab_size"], CFG["embed_dim"], CFG["dropout"])
opt = torch.optim.Adam(net.parameters(), lr=CFG["lr"])
loss_fn = nn.CrossEntropyLoss(label_smoothing=CFG["label_smoothing"])


def accuracy(loader):
    net.eval()
    hit = n = 0
    with torch.no_grad():
        for flat, offsets, y in loader:
            hit += (net(flat, offsets).argmax(-1) == y).sum().item()
            n += len(y)
    return hit / n


for ep in range(CFG["epochs"]):
    net.train()
    tot = 0
    for flat, offsets, y in train_dl:
        loss = loss_fn(net(flat, offsets), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    print(f"epoch {ep:2d} | loss {tot / len(train_dl):.4f} | train acc {accuracy(train_dl):.3f} "
          f"| test acc {accuracy(test_dl):.3f}")

print("final test accuracy: %.3f" % accuracy(test_dl))
