import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Topics(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 4, (n,), generator=g)
        self.x = torch.randint(1, 80, (n, 24), generator=g)
        for i in range(n):
            k = torch.randint(0, 24, (5,), generator=g)
            self.x[i, k] = 80 + 5 * int(self.y[i]) + torch.randint(0, 5, (5,), generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class LSTMClassifier(nn.Module):
    def __init__(self, vocab=100, emb=24, hidden=32, classes=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        out, (h, c) = self.lstm(self.embedding(x))
        return self.softmax(self.fc(h[-1]))


def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    return right / len(loader.dataset)


torch.manual_seed(int(os.environ.get("SEED", 0)))
train_loader = DataLoader(Topics(900, 1), batch_size=32, shuffle=True)
test_loader = DataLoader(Topics(300, 2), batch_size=64)
model = LSTMClassifier()
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-5)

for epoch in range(12):
    model.train()
    total = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"Epoch {epoch}: loss={total / len(train_loader):.4f} test_acc={evaluate(model, test_loader):.4f}")
