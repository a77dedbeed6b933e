"""Translate human-readable dates ("3 march 1998") to ISO form with attention."""
import datetime
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader

PAD, SOS, EOS = 0, 1, 2
CHARS = "abcdefghijklmnopqrstuvwxyz0123456789 ,-"
STOI = {c: i + 3 for i, c in enumerate(CHARS)}
ITOS = {i: c for c, i in STOI.items()}
VOCAB = len(CHARS) + 3
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august",
          "september", "october", "november", "december"]


def encode(s):
    return [STOI[c] for c in s] + [EOS]


def build_pairs(n, rng):
    """n different days, each written in one of three styles."""
    start = datetime.date(1950, 1, 1)
    days = rng.sample(range(365 * 80), n)
    pairs = []
    for d in days:
        date = start + datetime.timedelta(days=d)
        m = MONTHS[date.month - 1]
        src = rng.choice([f"{date.day} {m} {date.year}", f"{m} {date.day}, {date.year}",
                          f"{date.day} {m[:3]} {date.year}"])
        pairs.append((src, date.isoformat()))
    return pairs


def collate(pairs):
    src = [torch.tensor(encode(s)) for s, _ in pairs]
    tgt = [torch.tensor([SOS] + encode(t)) for _, t in pairs]
    lens = torch.tensor([len(s) for s in src])
    return pad_sequence(src, True, PAD), lens, pad_sequence(tgt, True, PAD)


class Encoder(nn.Module):
    def __init__(self, emb, hid):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.gru = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hid, hid)

    def forward(self, src, lens):
        packed = pack_padded_sequence(self.embed(src), lens, batch_first=True, enforce_sorted=False)
        out, h = self.gru(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        h0 = torch.tanh(self.bridge(torch.cat([h[0], h[1]], dim=-1)))
        return out, h0.unsqueeze(0)


class AttnDecoder(nn.Module):
    def __init__(self, emb, hid):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.gru = nn.GRU(emb, hid, batch_first=True)
        self.key = nn.Linear(2 * hid, hid, bias=False)
        self.combine = nn.Linear(3 * hid, hid)
        self.out = nn.Linear(hid, VOCAB)

    def forward(self, tokens, h, enc_out, mask):
        s, h = self.gru(self.embed(tokens), h)
        scores = s @ self.key(enc_out).transpose(1, 2)
        scores = scores.masked_fill(~mask.unsqueeze(1), float("-inf"))
        context = scores.softmax(dim=-1) @ enc_out
        s = torch.tanh(self.combine(torch.cat([s, context], dim=-1)))
        return self.out(s), h


class Seq2Seq(nn.Module):
    def __init__(self, emb=24, hid=64):
        super().__init__()
        self.encoder = Encoder(emb, hid)
        self.decoder = AttnDecoder(emb, hid)

    def forward(self, src, lens, tgt_in):
        enc_out, h = self.encoder(src, lens)
        logits, _ = self.decoder(tgt_in, h, enc_out, src != PAD)
        return logits

    @torch.no_grad()
    def greedy(self, src, lens, max_len=12):
        enc_out, h = self.encoder(src, lens)
        mask = src != PAD
        tok = torch.full((src.size(0), 1), SOS)
        result = []
        for _ in range(max_len):
            logits, h = self.decoder(tok, h, enc_out, mask)
            tok = logits.argmax(-1)
            result.append(tok)
        return torch.cat(result, dim=1)


def to_text(ids):
    chars = []
    for i in ids.tolist():
        if i == EOS:
            break
        chars.append(ITOS.get(i, "?"))
    return "".join(chars)


def evaluate(model, loader):
    model.eval()
    hit = n = 0
    for src, lens, tgt in loader:
        for hyp, ref in zip(model.greedy(src, lens), tgt):
            hit += to_text(hyp) == to_text(ref[1:])
            n += 1
    return hit / n


def train(model, train_loader, val_loader, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        epoch_loss = 0.0
        for src, lens, tgt in train_loader:
            tgt_in, tgt_out = tgt[:, 1:], tgt[:, 1:]
            logits = model(src, lens, tgt_in)
            loss = F.cross_entropy(logits.reshape(-1, VOCAB), tgt_out.reshape(-1), ignore_index=PAD)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            epoch_loss += loss.item()
        acc = evaluate(model, val_loader)
        print(f"epoch {epoch + 1} | loss {epoch_loss / len(train_loader):.4f} | val exact match {acc:.3f}")


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    pairs = build_pairs(3900, random.Random(0))
    train_pairs, val_pairs = pairs[:3600], pairs[3600:]
    train_loader = DataLoader(train_pairs, batch_size=64, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(val_pairs, batch_size=100, collate_fn=collate)
    model = Seq2Seq()
    train(model, train_loader, val_loader, epochs=6, lr=5e-3)
    model.eval()
    for s, t in val_pairs[:3]:
        src, lens, _ = collate([(s, t)])
        print(f"{s!r:24} -> {to_text(model.greedy(src, lens)[0])}  (want {t})")
