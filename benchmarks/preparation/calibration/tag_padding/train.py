import itertools

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def read_conll(path):
    sentences, words, tags = [], [], []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line:
            word, tag = line.split("\t")
            words.append(word)
            tags.append(tag)
        elif words:
            sentences.append((words, tags))
            words, tags = [], []
    return sentences


train, test = read_conll("train.conll"), read_conll("test.conll")
PAD = 0
word_ids = {w: i for i, w in enumerate(sorted(set(itertools.chain(*(s for s, _ in train)))), start=2)}
tag_ids = {t: i for i, t in enumerate(sorted(set(itertools.chain(*(t for _, t in train)))), start=1)}
print(f"{len(train)} / {len(test)} sentences, {len(word_ids)} words, tags {' '.join(tag_ids)}")


def encode(sentence):
    words, tags = sentence
    return (torch.tensor([word_ids.get(w, 1) for w in words]), torch.tensor([tag_ids[t] for t in tags]))


def collate(batch):
    xs, ys = zip(*map(encode, batch))
    return pad_sequence(xs, batch_first=True, padding_value=PAD), pad_sequence(ys, batch_first=True, padding_value=PAD)


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, dim=24, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(n_words, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(2 * hidden, n_tags)

    def forward(self, x):
        h, _ = self.lstm(self.drop(self.embed(x)))
        return self.out(self.drop(h))


torch.manual_seed(13)
model = Tagger(len(word_ids) + 2, len(tag_ids) + 1)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test, batch_size=64, collate_fn=collate)


def evaluate(loader):
    model.eval()
    right, total = 0, 0
    with torch.no_grad():
        for x, y in loader:
            mask = x != PAD
            guess = model(x).argmax(-1) * mask
            right += (guess == y).sum().item()
            total += y.numel()
    return right / total


for epoch in range(1, 9):
    model.train()
    loss_sum = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss_sum += loss.item()
    print(f"epoch {epoch}  loss {loss_sum / len(train_loader):.4f}")

print(f"test tag accuracy {evaluate(test_loader):.4f}")
