"""Multi-label tagging of bag-of-words documents (EmbeddingBag, BCE with pos_weight, micro F1)."""
import os
import random

import torch
from torch import nn
from torch.utils.data import DataLoader

SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)

VOCAB, TAGS = 400, 8
topic_words = [random.sample(range(VOCAB), 25) for _ in range(TAGS)]


def document():
    tags = [k for k in range(TAGS) if random.random() < 0.2]
    words = [random.randrange(VOCAB) for _ in range(random.randint(10, 20))]
    for k in tags:
        words += random.choices(topic_words[k], k=random.randint(5, 9))
    random.shuffle(words)
    target = [1.0 if k in tags else 0.0 for k in range(TAGS)]
    return words, target


def collate(docs):
    flat, offsets, targets = [], [], []
    for words, t in docs:
        offsets.append(len(flat))
        flat.extend(words)
        targets.append(t)
    return torch.tensor(flat), torch.tensor(offsets), torch.tensor(targets)


train_docs = [document() for _ in range(4000)]
test_docs = [document() for _ in range(500)]
train_loader = DataLoader(train_docs, batch_size=50, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_docs, batch_size=250, collate_fn=collate)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(VOCAB, 48, mode="mean")
        self.drop = nn.Dropout(0.3)
        self.hidden = nn.Linear(48, 48)
        self.tags = nn.Linear(48, TAGS)

    def forward(self, tokens, offsets):
        return self.tags(torch.relu(self.hidden(self.drop(self.bag(tokens, offsets)))))


model = Tagger()
positives = torch.tensor([t for _, t in train_docs]).mean(0)
criterion = nn.BCEWithLogitsLoss(pos_weight=((1 - positives) / positives).clamp(max=3.0))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(6):
    model.train()
    epoch_loss = 0.0
    for tok, off, tgt in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(tok, off), tgt)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    model.eval()
    tp = fp = fn = 0
    with torch.no_grad():
        for tok, off, tgt in test_loader:
            pred = model(tok, off) > 0
            t = tgt.bool()
            tp += (pred & t).sum().item()
            fp += (pred & ~t).sum().item()
            fn += (~pred & t).sum().item()
    print(f"Epoch {epoch + 1}: loss {epoch_loss / len(train_loader):.4f} micro-F1 {2 * tp / (2 * tp + fp + fn):.4f}")
