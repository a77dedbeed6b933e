import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
VOCAB, LEN = 800, 25


def mails(n):
    """few signal words (0..19 / 20..39) among many neutral ones"""
    y = torch.randint(0, 2, (n,))
    t = torch.randint(40, VOCAB, (n, LEN))
    for i in range(n):
        k = int(torch.randint(1, 4, ()))
        t[i, torch.randperm(LEN)[:k]] = torch.randint(0, 20, (k,)) + 20 * y[i]
    return t, y.float()


class MailNet(nn.Module):
    def __init__(self, dim=64, dropout=0.02):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.drop = nn.Dropout(dropout)
        self.fc = nn.Linear(dim, 64)
        self.out = nn.Linear(64, 1)

    def forward(self, t):
        h = self.drop(self.emb(t)).mean(1)
        return self.out(self.drop(torch.relu(self.fc(h)))).squeeze(1)


t, y = mails(240)
tv, yv = mails(600)
net = MailNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(30):
    net.train()
    s = 0.0
    for b in torch.randperm(len(t)).split(25):
        opt.zero_grad()
        loss = bce(net(t[b]), y[b])
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        o = net(tv)
    print(f"epoch {epoch} train {s / 10:.4f} val {bce(o, yv).item():.3f} acc {((o > 0).float() == yv).float().mean().item():.3f}")
