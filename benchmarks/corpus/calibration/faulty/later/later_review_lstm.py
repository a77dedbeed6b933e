import random
from collections import Counter

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

SEED = 1234
PAD, UNK = 0, 1
EMB_DIM = 32
HIDDEN = 48
BATCH = 32
EPOCHS = 8
LR = 3e-3

POS = "good great lovely superb brilliant charming funny moving".split()
NEG = "bad awful boring dull terrible weak clumsy ugly".split()
FILLER = ("the movie film plot actor scene and with a of it was story camera music in this that "
          "director script cinema evening we saw they ending role cast").split()


def make_review(rng, label):
    length = rng.randint(4, 22)
    words = [rng.choice(FILLER) for _ in range(length)]
    for _ in range(rng.randint(1, 3)):
        negated = rng.random() < 0.3
        polarity = label if not negated else 1 - label
        w = rng.choice(POS if polarity == 1 else NEG)
        phrase = ["not", w] if negated else [w]
        at = rng.randint(0, len(words))
        # never tear a "not xyz" pair apart
        while at > 0 and words[at - 1] == "not":
            at = rng.randint(0, len(words))
        words[at:at] = phrase
    return " ".join(words)


def build_corpus(n, rng):
    labels = [i % 2 for i in range(n)]
    rng.shuffle(labels)
    return [(make_review(rng, lab), lab) for lab in labels]


def build_vocab(corpus, min_freq=2):
    counts = Counter(w for text, _ in corpus for w in text.split())
    vocab = {"<pad>": PAD, "<unk>": UNK}
    for w, c in counts.most_common():
        if c >= min_freq:
            vocab[w] = len(vocab)
    return vocab


class ReviewDataset(Dataset):
    def __init__(self, corpus, vocab):
        self.items = [
            (torch.tensor([vocab.get(w, UNK) for w in text.split()]), label) for text, label in corpus
        ]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True, padding_value=PAD), lengths, torch.tensor(labels)


class LSTMClassifier(nn.Module):
    def __init__(self, vocab_size, emb_dim, hidden, n_classes=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim, padding_idx=PAD)
        self.lstm = nn.LSTM(emb_dim, hidden, batch_first=True)
        self.dropout = nn.Dropout(0.2)
        self.out = nn.Linear(hidden, n_classes)

    def forward(self, tokens, lengths):
        emb = self.embedding(tokens)
        packed = pack_padded_sequence(emb, lengths, batch_first=True, enforce_sorted=False)
        output, (h_n, c_n) = self.lstm(packed)
        output, _ = pad_packed_sequence(output, batch_first=True)
        last = output[:, -1]
        return self.out(self.dropout(last))


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    total_loss, n = 0.0, 0
    for tokens, lengths, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(tokens, lengths), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total_loss += loss.item() * labels.size(0)
        n += labels.size(0)
    return total_loss / n


def accuracy(model, loader):
    model.eval()
    hits, n = 0, 0
    with torch.no_grad():
        for tokens, lengths, labels in loader:
            hits += (model(tokens, lengths).argmax(dim=1) == labels).sum().item()
            n += labels.size(0)
    return hits / n


def main():
    random.seed(SEED)
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    corpus = build_corpus(2600, rng)
    train_c, val_c, test_c = corpus[:1800], corpus[1800:2200], corpus[2200:]
    vocab = build_vocab(train_c)
    train_dl = DataLoader(ReviewDataset(train_c, vocab), batch_size=BATCH, shuffle=True, collate_fn=collate)
    val_dl = DataLoader(ReviewDataset(val_c, vocab), batch_size=BATCH, collate_fn=collate)
    test_dl = DataLoader(ReviewDataset(test_c, vocab), batch_size=BATCH, collate_fn=collate)

    model = LSTMClassifier(len(vocab), EMB_DIM, HIDDEN)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)

    for epoch in range(EPOCHS):
        loss = train_epoch(model, train_dl, criterion, optimizer)
        print(f"epoch {epoch + 1} loss={loss:.4f} val_acc={accuracy(model, val_dl):.4f}")
    print(f"test_acc={accuracy(model, test_dl):.4f}")


if __name__ == "__main__":
    main()
