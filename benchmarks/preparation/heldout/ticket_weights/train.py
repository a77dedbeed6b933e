from collections import Counter

import pandas as pd
import torch
from sklearn.metrics import classification_report, f1_score
from sklearn.preprocessing import LabelEncoder
from torch import nn

torch.manual_seed(0)

tickets = pd.read_csv("tickets.csv")
train, test = tickets[tickets.part == "train"], tickets[tickets.part == "test"]

enc = LabelEncoder().fit(train.queue)
y_train = torch.as_tensor(enc.transform(train.queue))
y_test = enc.transform(test.queue)

freq = Counter(w for t in train.ticket for w in t.split())
vocab = {w: i for i, (w, _) in enumerate(freq.most_common())}


def bag(texts):
    ids, offs = [], []
    for t in texts:
        offs.append(len(ids))
        ids += [vocab[w] for w in t.split() if w in vocab]
    return torch.tensor(ids), torch.tensor(offs)


counts = train.queue.value_counts()
weights = torch.tensor((len(train) / (len(counts) * counts)).to_numpy(), dtype=torch.float32)
print("queues:", list(enc.classes_))
print("tickets per queue:", counts.to_dict())


class TicketNet(nn.Module):
    def __init__(self, n_words, n_out):
        super().__init__()
        self.bag = nn.EmbeddingBag(n_words, 24, mode="mean")
        self.fc = nn.Sequential(nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, n_out))

    def forward(self, ids, offs):
        return self.fc(self.bag(ids, offs))


model = TicketNet(len(vocab), len(enc.classes_))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(weight=weights)
rows = train.ticket.tolist()

for epoch in range(12):
    model.train()
    running = 0.0
    for b in torch.randperm(len(rows)).split(64):
        logits = model(*bag([rows[i] for i in b.tolist()]))
        loss = criterion(logits, y_train[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch + 1:2d} loss {running / 38:.4f}")

model.eval()
with torch.no_grad():
    pred = model(*bag(test.ticket)).argmax(1).numpy()
print(classification_report(y_test, pred, target_names=enc.classes_, digits=3, zero_division=0))
print("macro F1 %.3f" % f1_score(y_test, pred, average="macro"))
