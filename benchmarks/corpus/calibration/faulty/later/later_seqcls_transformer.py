import argparse
import math
import random
import time

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader

PAD, CLS, BUT = 0, 1, 2
N_TOPICS = 4
TOPIC = [list(range(3 + 8 * k, 11 + 8 * k)) for k in range(N_TOPICS)]
NEUTRAL = list(range(35, 60))


def words_about(rng, topic, n):
    out = [rng.choice(TOPIC[topic]) if rng.random() < 0.6 else rng.choice(NEUTRAL) for _ in range(n)]
    out[rng.randrange(n)] = rng.choice(TOPIC[topic])
    return out


def make_example(rng, max_words):
    """A short request about one topic. With BUT in it, only what follows BUT counts."""
    label = rng.randrange(N_TOPICS)
    toks = [CLS]
    if rng.random() < 0.5:
        other = (label + rng.randint(1, N_TOPICS - 1)) % N_TOPICS
        toks += words_about(rng, other, rng.randint(2, max_words)) + [BUT]
    toks += words_about(rng, label, rng.randint(2, max_words))
    return torch.tensor(toks), label


def collate(batch):
    seqs, labels = zip(*batch)
    x = pad_sequence(seqs, batch_first=True, padding_value=PAD)
    return x, x.eq(PAD), torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, vocab, d_model, heads, layers, max_len=24):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.tok = nn.Embedding(vocab, d_model, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(1, max_len, d_model) * 0.5)
        enc = nn.TransformerEncoderLayer(
            d_model, heads, dim_feedforward=2 * d_model, dropout=0.1, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(enc, layers, norm=nn.LayerNorm(d_model), enable_nested_tensor=False)
        self.head = nn.Linear(d_model, N_TOPICS)
        nn.init.normal_(self.tok.weight, std=d_model ** -0.5)
        with torch.no_grad():
            self.tok.weight[PAD].zero_()

    def forward(self, x, pad_mask):
        h = self.tok(x) * self.scale + self.pos[:, : x.size(1)]
        h = self.encoder(h, src_key_padding_mask=pad_mask)
        keep = (~pad_mask).unsqueeze(-1).float()
        pooled = (h * keep).sum(1) / keep.sum(1)
        return self.head(pooled)


def evaluate(model, loader, loss_fn):
    model.eval()
    loss, hit, n = 0.0, 0, 0
    with torch.no_grad():
        for x, m, y in loader:
            out = model(x, m)
            loss += loss_fn(out, y).item() * len(y)
            hit += (out.argmax(-1) == y).sum().item()
            n += len(y)
    model.train()
    return loss / n, hit / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--warmup", type=int, default=30)
    ap.add_argument("--d-model", type=int, default=32)
    ap.add_argument("--heads", type=int, default=4)
    ap.add_argument("--layers", type=int, default=2)
    ap.add_argument("--max-words", type=int, default=7)
    ap.add_argument("--seed", type=int, default=5)
    args = ap.parse_args()

    rng = random.Random(args.seed)
    torch.manual_seed(args.seed)
    train = [make_example(rng, args.max_words) for _ in range(4000)]
    valid = [make_example(rng, args.max_words) for _ in range(800)]
    train_dl = DataLoader(train, args.batch_size, shuffle=True, collate_fn=collate, drop_last=True)
    valid_dl = DataLoader(valid, 200, collate_fn=collate)

    model = Classifier(60, args.d_model, args.heads, args.layers)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.98), weight_decay=0.01)

    total_steps = args.epochs * len(train_dl)

    def lr_lambda(step):
        if step < args.warmup:
            return args.lr * (step + 1) / args.warmup
        progress = (step - args.warmup) / max(1, total_steps - args.warmup)
        return args.lr * 0.5 * (1.0 + math.cos(math.pi * progress))

    scheduler = LambdaLR(optimizer, lr_lambda)

    step = 0
    t0 = time.time()
    for epoch in range(args.epochs):
        for x, m, y in train_dl:
            loss = loss_fn(model(x, m), y)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            step += 1
            if step % 50 == 0:
                print(f"step {step:4d}/{total_steps}  loss {loss.item():.4f}  {time.time() - t0:.1f}s")
        vl, va = evaluate(model, valid_dl, loss_fn)
        print(f"--- epoch {epoch + 1}: valid loss {vl:.4f}  valid acc {va:.4f}")

    print(f"final valid accuracy {va:.4f}")


if __name__ == "__main__":
    main()
