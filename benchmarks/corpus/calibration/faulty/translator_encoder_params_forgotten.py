import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
VOCAB, LEN = 12, 6


class Encoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 8)
        self.rnn = nn.GRU(8, d, batch_first=True)

    def forward(self, src):
        return self.rnn(self.emb(src))[1]


class Decoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB + 1, 8)
        self.rnn = nn.GRU(8, d, batch_first=True)
        self.out = nn.Linear(d, VOCAB)

    def forward(self, prev, h):
        y, h = self.rnn(self.emb(prev), h)
        return self.out(y)


def pairs(n):
    src = torch.randint(0, VOCAB, (n, LEN))
    tgt = (src.flip(1) + 1) % VOCAB
    prev = torch.cat([torch.full((n, 1), VOCAB), tgt[:, :-1]], dim=1)
    return src, prev, tgt


encoder, decoder = Encoder(), Decoder()
optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
src, prev, tgt = pairs(3000)
v_src, v_prev, v_tgt = pairs(300)
for it in range(400):
    b = torch.randint(0, 3000, (64,))
    optimizer.zero_grad()
    logits = decoder(prev[b], encoder(src[b]))
    loss = criterion(logits.flatten(0, 1), tgt[b].flatten())
    loss.backward()
    optimizer.step()
    if it % 50 == 49:
        with torch.no_grad():
            acc = (decoder(v_prev, encoder(v_src)).argmax(-1) == v_tgt).float().mean().item()
        print(f"iter {it + 1} loss {loss.item():.3f} val token acc {acc:.3f}")
