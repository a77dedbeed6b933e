import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

N_FEAT, N_TAGS = 30, 8


class TagData(Dataset):
    """Each tag is switched on by its own nonlinear rule over the features."""

    rules = torch.randn(N_TAGS, N_FEAT)
    pairs = torch.randint(0, N_FEAT, (N_TAGS, 2))

    def __init__(self, n):
        self.x = torch.randn(n, N_FEAT)
        a, b = self.x[:, self.pairs[:, 0]], self.x[:, self.pairs[:, 1]]
        score = self.x @ self.rules.t() / N_FEAT**0.5 + 0.6 * a * b - 0.4
        self.y = (score > 0).float()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


train_set, test_set = TagData(3000), TagData(500)
train_dl = DataLoader(train_set, batch_size=64, shuffle=True)
test_dl = DataLoader(test_set, batch_size=250)

net = nn.Sequential(nn.Linear(N_FEAT, 128), nn.GELU(), nn.Dropout(0.1), nn.Linear(128, N_TAGS))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(net.parameters(), lr=6e-3, weight_decay=1e-2)


def f1_and_acc():
    net.eval()
    tp = fp = fn = hit = total = 0
    with torch.no_grad():
        for x, y in test_dl:
            p = (torch.sigmoid(net(x)) > 0.5).float()
            tp += (p * y).sum().item()
            fp += (p * (1 - y)).sum().item()
            fn += ((1 - p) * y).sum().item()
            hit += (p == y).sum().item()
            total += y.numel()
    return 2 * tp / (2 * tp + fp + fn), hit / total


for epoch in range(10):
    net.train()
    epoch_loss = 0.0
    for x, y in train_dl:
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    f1, acc = f1_and_acc()
    print(f"epoch {epoch}: loss {epoch_loss / len(train_dl):.4f} micro-F1 {f1:.3f} tag acc {acc:.3f}")
