# Next-token model for sequences from a second-order Markov source. Truncated sequences, tight clipping.
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

K, T = 6, 24
table = torch.softmax(2.5 * torch.randn(K, K, K), dim=-1)


def sequences(n):
    x = torch.zeros(n, T, dtype=torch.long)
    x[:, :2] = torch.randint(0, K, (n, 2))
    for t in range(2, T):
        x[:, t] = torch.multinomial(table[x[:, t - 2], x[:, t - 1]], 1).squeeze(1)
    return x


class TokenGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(K, 16)
        self.gru = nn.GRU(16, 48, batch_first=True)
        self.head = nn.Linear(48, K)

    def forward(self, tokens):
        h, _ = self.gru(self.emb(tokens))
        return self.head(h)


def nll(net, x):
    logits = net(x[:, :-1])
    return F.cross_entropy(logits[:, 1:].reshape(-1, K), x[:, 2:].reshape(-1))


net = TokenGRU()
opt = torch.optim.Adam(net.parameters(), lr=6e-3)
train, val = sequences(1024), sequences(256)
best_possible = -torch.log(table[val[:, :-2], val[:, 1:-1]].gather(-1, val[:, 2:, None])).mean()

clipped = steps = 0
for epoch in range(9):
    net.train()
    for idx in torch.randperm(len(train)).split(32):
        loss = nll(net, train[idx])
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.1)
        clipped += int(norm > 0.1)
        steps += 1
        opt.step()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch}: val nll {nll(net, val):.3f} (source {best_possible:.3f})")
print(f"clipped {clipped}/{steps} updates")
