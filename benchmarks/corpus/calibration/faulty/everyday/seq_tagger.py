import os
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

random.seed(3)
torch.manual_seed(int(os.environ.get("SEED", 0)))
WORDS = [f"w{i}" for i in range(40)]
TAGS = ["O", "A", "B", "C"]


def sentence():
    n = random.randint(3, 14)
    words = [random.randrange(1, 40) for _ in range(n)]
    tags, previous = [], 0
    for w in words:
        tags.append((w + (previous % 2)) % 4)
        previous = w
    return torch.tensor(words), torch.tensor(tags)


data = [sentence() for _ in range(700)]


class Tagger(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.emb = nn.Embedding(40, 16)
        self.lstm = nn.LSTM(16, hidden, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, len(TAGS))

    def forward(self, x):
        out, _ = self.lstm(self.emb(x))
        return torch.log_softmax(self.fc(out), dim=-1)


model, criterion = Tagger(), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(6):
    random.shuffle(data[:600])
    for i in range(0, 600, 20):
        xs, ys = zip(*data[i:i + 20])
        x, y = pad_sequence(xs, batch_first=True), pad_sequence(ys, batch_first=True)
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out.view(-1, 4), y.view(-1))
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
good = total = 0
with torch.no_grad():
    for x, y in data[600:]:
        good += (model(x.unsqueeze(0))[0].argmax(-1) == y).sum().item()
        total += len(y)
print(f"test tag accuracy {good / total:.4f}")
