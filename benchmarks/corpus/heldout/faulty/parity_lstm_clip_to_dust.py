import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def brackets(n, T=12):
    """Which of 4 symbols occurs most often in the sequence?"""
    probs = torch.softmax(1.5 * torch.randn(n, 4), 1)
    s = torch.multinomial(probs, T, replacement=True)
    counts = nn.functional.one_hot(s, 4).sum(1).float()
    return s, (counts + 0.01 * torch.rand(n, 4)).argmax(1)


class Counter(nn.Module):
    def __init__(self, emb=8, hid=24):
        super().__init__()
        self.emb = nn.Embedding(4, emb)
        self.lstm = nn.LSTM(emb, hid, batch_first=True)
        self.cls = nn.Linear(hid, 4)

    def forward(self, s):
        _, (h, _) = self.lstm(self.emb(s))
        return self.cls(h[-1])


def train_epoch(net, opt, x, y, max_norm):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), max_norm)
        opt.step()
        total += loss.item()
    return total / (len(x) // 50)


x, y = brackets(2000)
xv, yv = brackets(500)
net = Counter()
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
for epoch in range(10):
    tl = train_epoch(net, opt, x, y, max_norm=1e-5)
    net.eval()
    with torch.no_grad():
        acc = (net(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch + 1} loss {tl:.4f} val acc {acc:.3f}")
