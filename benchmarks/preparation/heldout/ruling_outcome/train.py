import json
from argparse import ArgumentParser

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F


def read_jsonl(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def fit_tokenizer(texts, size, max_len):
    tok = Tokenizer(models.BPE(unk_token="[UNK]"))
    tok.normalizer = normalizers.Lowercase()
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=["[PAD]", "[UNK]"]))
    tok.enable_truncation(max_length=max_len)
    tok.enable_padding(pad_id=0, pad_token="[PAD]")
    return tok


class Encoder(nn.Module):
    """embedding, two width-3 convolutions, max over time"""

    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.c1 = nn.Conv1d(dim, dim, 3, padding=1)
        self.c2 = nn.Conv1d(dim, dim, 3, padding=1)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(dim, classes)

    def forward(self, ids):
        h = self.emb(ids).transpose(1, 2)
        h = F.relu(self.c1(h))
        h = F.relu(self.c2(h)) * (ids > 0).unsqueeze(1)
        return self.out(self.drop(h.amax(2)))


def tensors(tok, rows, classes):
    enc = tok.encode_batch([r["text"] for r in rows])
    return torch.tensor([e.ids for e in enc]), torch.tensor([classes.index(r["outcome"]) for r in rows])


def main():
    p = ArgumentParser()
    p.add_argument("--vocab", type=int, default=400)
    p.add_argument("--max-len", type=int, default=64)
    p.add_argument("--epochs", type=int, default=6)
    a = p.parse_args()
    torch.manual_seed(5)
    train, dev = read_jsonl("rulings_train.jsonl"), read_jsonl("rulings_dev.jsonl")
    classes = sorted({r["outcome"] for r in train})
    tok = fit_tokenizer((r["text"] for r in train), a.vocab, a.max_len)
    x, y = tensors(tok, train, classes)
    xd, yd = tensors(tok, dev, classes)
    print(f"{len(x)} rulings of {x.shape[1]} tokens, vocabulary {tok.get_vocab_size()}, classes {classes}")
    net = Encoder(tok.get_vocab_size(), 32, len(classes))
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for epoch in range(a.epochs):
        net.train()
        total = 0.0
        for b in torch.randperm(len(x)).split(30):
            loss = F.cross_entropy(net(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(b) / len(x)
        net.eval()
        with torch.no_grad():
            acc = (net(xd).argmax(1) == yd).float().mean().item()
        print(f"epoch {epoch + 1} loss {total:.3f} dev accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
