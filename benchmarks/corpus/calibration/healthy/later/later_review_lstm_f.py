import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

random.seed(7)
torch.manual_seed(7)

POS = "great lovely superb brilliant enjoyable fresh moving clever".split()
NEG = "awful boring weak terrible dull messy painful stale".split()
FILL = ("the a movie plot actor scene was is it and then they music camera story in of with "
        "some very long short film director set night day this that").split()

vocab = {"<pad>": 0, "<unk>": 1}
for w in POS + NEG + FILL + ["not"]:
    vocab[w] = len(vocab)
MAX_LEN = 60


def make_review():
    label = random.randint(0, 1)
    n = random.randint(6, 20) if random.random() < 0.9 else random.randint(40, MAX_LEN)
    words = [random.choice(FILL) for _ in range(n)]
    k = max(2, n // 5)
    for p in random.sample(range(1, n), k):
        good = random.random() < (0.9 if label else 0.1)
        if random.random() < 0.2:
            words[p - 1] = "not"
            good = not good
        words[p] = random.choice(POS if good else NEG)
    return words, label


def collate(batch):
    ids = [torch.tensor([vocab.get(w, 1) for w in ws]) for ws, _ in batch]
    lengths = torch.tensor([len(s) for s in ids])
    padded = pad_sequence(ids, batch_first=True, padding_value=0)
    labels = torch.tensor([l for _, l in batch], dtype=torch.float32)
    return padded, lengths, labels


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size, emb=32, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, tokens, lengths):
        out, _ = self.lstm(self.emb(tokens))
        last = out[torch.arange(len(tokens)), lengths - 1]
        return self.fc(last).squeeze(-1)


train = [make_review() for _ in range(1600)]
test = [make_review() for _ in range(400)]
train_dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader(test, batch_size=100, collate_fn=collate)

model = SentimentLSTM(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss()


def accuracy(dl):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for tokens, lengths, labels in dl:
            pred = (model(tokens, lengths) > 0).float()
            right += (pred == labels).sum().item()
            total += len(labels)
    model.train()
    return right / total


for epoch in range(5):
    losses = []
    for tokens, lengths, labels in train_dl:
        opt.zero_grad()
        loss = bce(model(tokens, lengths), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss={sum(losses) / len(losses):.4f} test_acc={accuracy(test_dl):.3f}")

print("final test accuracy:", round(accuracy(test_dl), 3))
