import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
VOCAB, LEN = 200, 20


def reviews(n):
    tok = torch.randint(20, VOCAB, (n, LEN))
    y = torch.randint(0, 2, (n,))
    for i in range(n):
        k = int(torch.randint(2, 5, ()))
        pos = torch.randperm(LEN)[:k]
        tok[i, pos] = torch.randint(0, 10, (k,)) + (10 if y[i] else 0)
    return tok, y.float()


class BagClassifier(nn.Module):
    def __init__(self, dim=32, drop=0.95):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.fc = nn.Linear(dim, 32)
        self.drop = nn.Dropout(drop)
        self.out = nn.Linear(32, 1)

    def forward(self, tokens):
        h = self.drop(self.emb(tokens))
        h = self.drop(torch.relu(self.fc(h)))
        return self.out(h).squeeze(1)


x, y = reviews(1500)
xv, yv = reviews(500)
model = BagClassifier()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(8):
    model.train()
    run = 0.0
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True):
        opt.zero_grad()
        loss = bce(model(xb), yb)
        loss.backward()
        opt.step()
        run += loss.item()
    model.eval()
    with torch.no_grad():
        o = model(xv)
    print(f"epoch {epoch} train loss {run / 30:.3f} val loss {bce(o, yv).item():.3f} val acc {((o > 0) == (yv > 0.5)).float().mean().item():.3f}")
