"""Is the bracket string balanced? Transformer encoder with padding mask and a [CLS] token."""
import os
import random

import torch
from torch import nn

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
random.seed(SEED)

PAD, CLS, OPEN, CLOSE = range(4)
MAXLEN = 16


def balanced(tokens):
    depth = 0
    for t in tokens:
        depth += 1 if t == OPEN else -1
        if depth < 0:
            return False
    return depth == 0


def random_balanced(half):
    seq, opened, depth = [], 0, 0
    while len(seq) < 2 * half:
        if opened < half and (depth == 0 or random.random() < 0.5):
            seq.append(OPEN); opened += 1; depth += 1
        else:
            seq.append(CLOSE); depth -= 1
    return seq


def example():
    seq = random_balanced(random.randint(2, MAXLEN // 2))
    if random.random() < 0.5:
        while balanced(seq):
            for _ in range(random.randint(1, 2)):
                i = random.randrange(len(seq))
                seq[i] = OPEN if seq[i] == CLOSE else CLOSE
    y = int(balanced(seq))
    return [CLS] + seq + [PAD] * (MAXLEN - len(seq)), y


def dataset(n):
    xs, ys = zip(*(example() for _ in range(n)))
    return torch.tensor(xs), torch.tensor(ys)


class BracketEncoder(nn.Module):
    def __init__(self, d=32, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(4, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(MAXLEN + 1, d) * 0.1)
        layer = nn.TransformerEncoderLayer(d, heads, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 2)

    def forward(self, x):
        h = self.enc(self.tok(x) + self.pos, src_key_padding_mask=x == PAD)
        return self.head(self.norm(h[:, 0]))


x_train, y_train = dataset(6000)
x_val, y_val = dataset(500)
model = BracketEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=1.5e-3, weight_decay=0.01)
total_steps = 300
warmup = 30
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: min(1.0, (s + 1) / warmup) * max(0.0, (total_steps - s) / total_steps)
)
criterion = nn.CrossEntropyLoss()
for step in range(total_steps):
    ix = torch.randint(0, len(x_train), (64,))
    opt.zero_grad()
    loss = criterion(model(x_train[ix]), y_train[ix])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if (step + 1) % 60 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(x_val).argmax(1) == y_val).float().mean().item()
        model.train()
        print(f"step {step + 1} loss {loss.item():.4f} val acc {acc:.3f}")
