"""GRU encoder-decoder with dot-product attention that learns to write strings backwards."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS = 0, 1, 2
LETTERS = "abcdefghij"
STOI = {c: i + 3 for i, c in enumerate(LETTERS)}
ITOS = {i: c for c, i in STOI.items()}
VOCAB = len(STOI) + 3


def random_string(rng):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(3, 7)))


def encode(s):
    return [STOI[c] for c in s]


def make_batch(strings):
    src = pad_sequence([torch.tensor(encode(s) + [EOS]) for s in strings], batch_first=True, padding_value=PAD)
    tgt = pad_sequence([torch.tensor([BOS] + encode(s[::-1]) + [EOS]) for s in strings],
                       batch_first=True, padding_value=PAD)
    return src, tgt


class Encoder(nn.Module):
    def __init__(self, emb, hid):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hid, hid)
        self.mem = nn.Linear(2 * hid, hid)

    def forward(self, src):
        out, h = self.rnn(self.embed(src))
        h0 = torch.tanh(self.bridge(torch.cat([h[0], h[1]], dim=-1)))
        return self.mem(out), h0.unsqueeze(0)


class Decoder(nn.Module):
    def __init__(self, emb, hid):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hid, batch_first=True)
        self.mix = nn.Linear(2 * hid, hid)
        self.out = nn.Linear(hid, VOCAB)

    def forward(self, tokens, h, memory, mem_mask):
        q, h = self.rnn(self.embed(tokens), h)
        scores = q @ memory.transpose(1, 2)
        scores = scores.masked_fill(~mem_mask[:, None, :], float("-inf"))
        ctx = scores.softmax(-1) @ memory
        return self.out(torch.tanh(self.mix(torch.cat([q, ctx], -1)))), h


class Seq2Seq(nn.Module):
    def __init__(self, emb=32, hid=64):
        super().__init__()
        self.enc = Encoder(emb, hid)
        self.dec = Decoder(emb, hid)

    def forward(self, src, dec_in):
        memory, h = self.enc(src)
        logits, _ = self.dec(dec_in, h, memory, src != PAD)
        return logits

    @torch.no_grad()
    def greedy(self, src, max_len=10):
        memory, h = self.enc(src)
        tok = torch.full((len(src), 1), BOS)
        outs = []
        for _ in range(max_len):
            logits, h = self.dec(tok, h, memory, src != PAD)
            tok = logits.argmax(-1)
            outs.append(tok)
        return torch.cat(outs, 1)


def to_string(ids):
    s = ""
    for i in ids.tolist():
        if i == EOS:
            break
        s += ITOS.get(i, "?")
    return s


def exact_match(model, strings):
    model.eval()
    src, _ = make_batch(strings)
    preds = [to_string(r) for r in model.greedy(src)]
    model.train()
    return sum(p == s[::-1] for p, s in zip(preds, strings)) / len(strings), preds


def main():
    torch.manual_seed(5)
    rng = random.Random(5)
    held_out = [random_string(rng) for _ in range(150)]
    blocked = set(held_out)

    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    steps = 350
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 50) * (1 - s / (steps + 1)))
    avg = None
    for step in range(1, steps + 1):
        strings = []
        while len(strings) < 48:
            s = random_string(rng)
            if s not in blocked:
                strings.append(s)
        src, tgt = make_batch(strings)
        dec_in, gold = tgt[:, 1:], tgt[:, 1:]
        logits = model(src, dec_in)
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), gold.reshape(-1), ignore_index=PAD)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        avg = loss.item() if avg is None else 0.95 * avg + 0.05 * loss.item()
        if step % 50 == 0:
            em, preds = exact_match(model, held_out)
            print(f"step {step:4d} loss {avg:.4f} exact match {em:.3f}   {held_out[0]} -> {preds[0]}")

    em, _ = exact_match(model, held_out)
    print(f"held-out exact match: {em:.3f}")


if __name__ == "__main__":
    main()
