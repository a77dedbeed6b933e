import argparse
import sqlite3

import numpy as np
import torch
import torch.nn as nn
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

parser = argparse.ArgumentParser()
parser.add_argument("--db", default="tickets.db")
parser.add_argument("--max_len", type=int, default=24)
parser.add_argument("--vocab_size", type=int, default=2000)
parser.add_argument("--emb", type=int, default=24)
parser.add_argument("--hidden", type=int, default=24)
parser.add_argument("--epochs", type=int, default=7)
args = parser.parse_args()
torch.manual_seed(0)
rng = np.random.RandomState(0)

conn = sqlite3.connect(args.db)
rows = conn.execute("SELECT body, queue FROM tickets ORDER BY id").fetchall()
conn.close()
texts = [r[0] for r in rows]
label_names = sorted({r[1] for r in rows})
label2id = {n: i for i, n in enumerate(label_names)}
Y = torch.tensor([label2id[r[1]] for r in rows])

perm = rng.permutation(len(rows))
n_test = len(rows) // 5
test_idx, train_idx = perm[:n_test], perm[n_test:]


def build_tokenizer(corpus):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.normalizer = normalizers.Lowercase()
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(corpus, trainers.WordLevelTrainer(
        vocab_size=args.vocab_size, special_tokens=["[PAD]", "[UNK]"], show_progress=False))
    tok.enable_truncation(max_length=args.max_len)
    tok.enable_padding(length=args.max_len, pad_id=0, pad_token="[PAD]")
    return tok


tokenizer = build_tokenizer([texts[i] for i in train_idx])
X = torch.tensor([e.ids for e in tokenizer.encode_batch(texts)])
print("tickets:", tuple(X.shape), "vocab:", tokenizer.get_vocab_size(), "queues:", label_names)


class GRUClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(tokenizer.get_vocab_size(), args.emb, padding_idx=0)
        self.gru = nn.GRU(args.emb, args.hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * args.hidden, len(label_names))

    def forward(self, x):
        h, _ = self.gru(self.embedding(x))
        h = h.masked_fill((x == 0).unsqueeze(-1), -1e4).max(dim=1).values
        return self.out(h)


model = GRUClassifier()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(args.epochs):
    model.train()
    losses = []
    for b in torch.from_numpy(rng.permutation(train_idx)).split(64):
        loss = nn.functional.cross_entropy(model(X[b]), Y[b])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        acc = (model(X[test_idx]).argmax(1) == Y[test_idx]).float().mean().item()
    print("epoch %d loss %.3f test accuracy %.3f" % (epoch + 1, np.mean(losses), acc))
