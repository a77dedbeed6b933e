# Sequence tagging: does each digit go up, stay or go down against the one before? Padded batches, loss on real tokens.
import os
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
PAD_TOKEN, IGNORE, MAXLEN = 10, -100, 14


def make_batch(n):
    lengths = torch.randint(4, MAXLEN + 1, (n,))
    digits = torch.randint(0, 10, (n, MAXLEN))
    prev = F.pad(digits, (1, 0))[:, :-1]
    tags = torch.where(digits > prev, 0, torch.where(digits == prev, 1, 2))
    inside = torch.arange(MAXLEN)[None] < lengths[:, None]
    return digits.masked_fill(~inside, PAD_TOKEN), tags.masked_fill(~inside, IGNORE)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(11, 16, padding_idx=PAD_TOKEN)
        self.rnn = nn.LSTM(16, 32, batch_first=True)
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


train_x, train_t = make_batch(1200)
test_x, test_t = make_batch(300)
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=8e-3)

for epoch in range(8):
    model.train()
    for rows in torch.randperm(1200).split(40):
        logits = model(train_x[rows])
        loss = F.cross_entropy(logits.transpose(1, 2), train_t[rows], ignore_index=IGNORE)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        pred = model(test_x).argmax(-1)
        real = test_t != IGNORE
        acc = (pred[real] == test_t[real]).float().mean()
    print(f"epoch {epoch}: loss {loss.item():.4f} token accuracy {acc:.3f}")
