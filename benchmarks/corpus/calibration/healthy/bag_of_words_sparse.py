import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

VOCAB, TOPICS = 400, 4
topic_words = torch.softmax(1.5 * torch.randn(TOPICS, VOCAB), dim=1)
shared = torch.softmax(torch.randn(VOCAB), dim=0)


def documents(n, length=25):
    topic = torch.randint(0, TOPICS, (n,))
    probs = 0.5 * topic_words[topic] + 0.5 * shared
    draws = torch.multinomial(probs, length, replacement=True)
    bow = torch.zeros(n, VOCAB)
    bow.scatter_(1, draws, 1.0)      # binary occurrence, about 94 % zeros
    return bow, topic


train_x, train_y = documents(2000)
test_x, test_y = documents(500)
print(f"share of zeros in the input {(train_x == 0).float().mean():.3f}")
dl = DataLoader(TensorDataset(train_x, train_y), batch_size=50, shuffle=True)

clf = nn.Sequential()
clf.add_module("hidden", nn.Linear(VOCAB, 64))
clf.add_module("act", nn.ReLU())
clf.add_module("drop", nn.Dropout(0.3))
clf.add_module("logits", nn.Linear(64, TOPICS))
opt = torch.optim.AdamW(clf.parameters(), lr=2e-3, weight_decay=0.05)
ce = nn.CrossEntropyLoss()

for epoch in range(6):
    clf.train()
    s = 0.0
    for bx, by in dl:
        loss = ce(clf(bx), by)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item()
    clf.eval()
    with torch.no_grad():
        acc = (clf(test_x).argmax(1) == test_y).float().mean()
    print(f"epoch {epoch} loss {s / len(dl):.4f} test acc {acc:.3f}")
