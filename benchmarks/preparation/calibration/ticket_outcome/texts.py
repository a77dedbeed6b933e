import json

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers


def read(path):
    parts = {"train": [], "test": []}
    with open(path) as fh:
        for line in fh:
            r = json.loads(line)
            parts[r["split"]].append((r["log"], r["outcome"]))
    return parts


def make_tokenizer(texts, vocab_size, max_length):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.normalizer = normalizers.Lowercase()
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=vocab_size, special_tokens=["[PAD]", "[UNK]"]))
    tok.enable_truncation(max_length=max_length)
    tok.enable_padding(pad_id=0, pad_token="[PAD]", length=max_length)
    return tok


def encode(tok, pairs, classes):
    ids = torch.tensor([e.ids for e in tok.encode_batch([t for t, _ in pairs])])
    return ids, torch.tensor([classes.index(c) for _, c in pairs])
