# restaurant reviews: positive (4-5 stars) or negative (1-2 stars)
import csv
from collections import Counter
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(2)

data = []
with open("reviews.tsv") as f:
    for row in csv.DictReader(f, delimiter="\t"):
        data.append((row["review"].split(), 1 if int(row["stars"]) > 3 else 0))
n_train = int(0.8 * len(data))
train, test = data[:n_train], data[n_train:]

word_counts = Counter(w for words, _ in train for w in words)
word2idx = {w: i for i, (w, c) in enumerate(word_counts.most_common())}
vocab_len = len(word2idx)
print("vocabulary:", vocab_len, "most common:", word_counts.most_common(5))


def collate(batch):
    seqs = [torch.tensor([word2idx[w] for w in words if w in word2idx]) for words, _ in batch]
    labels = torch.tensor([float(l) for _, l in batch])
    padded = pad_sequence(seqs, batch_first=True, padding_value=0)
    return padded, labels


train_dl = DataLoader(train, batch_size=40, shuffle=True, collate_fn=collate)
test_dl = DataLoader(test, batch_size=200, collate_fn=collate)


class ReviewNet(nn.Module):
    def __init__(self, vocab_len, emb_dim=32):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab_len, emb_dim, mode="sum", padding_idx=0)
        self.mlp = nn.Sequential(nn.ReLU(), nn.Linear(emb_dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.mlp(self.bag(x)).squeeze(1)


model = ReviewNet(vocab_len)
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(10):
    model.train()
    total = 0
    for x, y in train_dl:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_dl:
            correct += ((model(x) > 0).float() == y).sum().item()
    print(f"epoch {epoch+1}: loss={total/len(train_dl):.4f}  test_acc={correct/len(test):.4f}")
