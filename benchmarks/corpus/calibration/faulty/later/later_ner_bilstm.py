import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import Dataset, DataLoader

random.seed(42)
torch.manual_seed(42)

# ---------------------------------------------------------------- corpus
FIRST = "anna ben carla david elena farid grace hugo irene jonas karin luis".split()
LAST = "adler bauer costa dietz evans fischer garcia holm ito jensen klein lopez".split()
CITY = "berlin lisbon oslo quito tunis vienna york delhi".split()
ORG = "acme globex initech umbrella stark wayne hooli vandelay".split()
ORG_TAIL = ["inc", "labs", "bank"]
FILL = "yesterday reportedly finally again quietly indeed also then".split()

TEMPLATES = [
    "{P} moved to {L}",
    "{P} works for {O} in {L}",
    "{O} opened an office in {L}",
    "{P} met {P} near {L}",
    "shares of {O} fell after {P} left",
    "people in {L} say that {O} will hire {P}",
    "nobody knew why {P} sold the house",
    "the weather was nice",
]
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
tag2id = {t: i for i, t in enumerate(TAGS)}


def entity(kind):
    if kind == "P":
        return ([random.choice(FIRST), random.choice(LAST)] if random.random() < 0.6 else [random.choice(LAST)]), "PER"
    if kind == "L":
        c = random.choice(CITY)
        return (["new", c] if random.random() < 0.3 else [c]), "LOC"
    return ([random.choice(ORG), random.choice(ORG_TAIL)] if random.random() < 0.5 else [random.choice(ORG)]), "ORG"


def sentence():
    words, tags = [], []
    for w in random.choice(TEMPLATES).split():
        if w.startswith("{"):
            ent, typ = entity(w[1])
            words += ent
            tags += ["B-" + typ] + ["I-" + typ] * (len(ent) - 1)
        else:
            words.append(w)
            tags.append("O")
        if random.random() < 0.1:
            words.append(random.choice(FILL))
            tags.append("O")
    return words, tags


train_sents = [sentence() for _ in range(1500)]
dev_sents = [sentence() for _ in range(300)]
vocab = {"<pad>": 0, "<unk>": 1}
for ws, _ in train_sents:
    for w in ws:
        vocab.setdefault(w, len(vocab))


class NerDataset(Dataset):
    def __init__(self, sents):
        self.sents = sents

    def __len__(self):
        return len(self.sents)

    def __getitem__(self, i):
        ws, ts = self.sents[i]
        return (torch.tensor([vocab.get(w, 1) for w in ws]), torch.tensor([tag2id[t] for t in ts]))


def collate(batch):
    xs, ys = zip(*batch)
    lengths = torch.tensor([len(x) for x in xs])
    return (
        pad_sequence(xs, batch_first=True, padding_value=0),
        pad_sequence(ys, batch_first=True, padding_value=-100),
        lengths,
    )


# ---------------------------------------------------------------- model
class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, emb=32, hid=40):
        super().__init__()
        self.emb = nn.Embedding(n_words, emb, padding_idx=0)
        self.drop = nn.Dropout(0.2)
        self.lstm = nn.LSTM(emb, hid, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hid, n_tags)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.drop(self.emb(x)), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(self.drop(h))          # (batch, time, tags)


def spans(tags):
    found, start = set(), None
    for i, t in enumerate(tags + ["O"]):
        if start is not None and not t.startswith("I-"):
            found.add((start, i, tags[start][2:]))
            start = None
        if t.startswith("B-"):
            start = i
    return found


def evaluate(model, loader):
    model.eval()
    tp = n_pred = n_gold = right = total = 0
    with torch.no_grad():
        for x, y, lengths in loader:
            pred = model(x, lengths).argmax(-1)
            keep = y != -100
            right += (pred[keep] == y[keep]).sum().item()
            total += keep.sum().item()
            for p, g, n in zip(pred.tolist(), y.tolist(), lengths.tolist()):
                ps, gs = spans([TAGS[k] for k in p[:n]]), spans([TAGS[k] for k in g[:n]])
                tp += len(ps & gs)
                n_pred += len(ps)
                n_gold += len(gs)
    prec, rec = tp / max(n_pred, 1), tp / max(n_gold, 1)
    return right / total, 2 * prec * rec / max(prec + rec, 1e-9)


# ---------------------------------------------------------------- training
train_loader = DataLoader(NerDataset(train_sents), batch_size=32, shuffle=True, collate_fn=collate)
dev_loader = DataLoader(NerDataset(dev_sents), batch_size=100, collate_fn=collate)

model = Tagger(len(vocab), len(TAGS))
criterion = nn.CrossEntropyLoss(ignore_index=-100)
EPOCHS = 6
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=8e-3, total_steps=EPOCHS * len(train_loader))

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for x, y, lengths in train_loader:
        optimizer.zero_grad()
        logits = model(x, lengths)
        # CrossEntropyLoss wants (batch, tags, time)
        logits = logits.view(logits.size(0), len(TAGS), -1)
        loss = criterion(logits, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        running += loss.item()
    acc, f1 = evaluate(model, dev_loader)
    print(f"Epoch {epoch + 1}/{EPOCHS}  loss: {running / len(train_loader):.4f}  dev token acc: {acc:.4f}  dev entity F1: {f1:.4f}")

print("Final F1:", round(f1, 4))
