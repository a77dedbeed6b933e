import json

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

PAD, UNK = 0, 1
TOPICS = ("bikes", "cooking", "astronomy")


def tokenize(text):
    return text.lower().split()


def build_vocab(texts, max_size):
    freq = {}
    for t in texts:
        for w in tokenize(t):
            freq[w] = freq.get(w, 0) + 1
    best = sorted(freq, key=lambda w: (-freq[w], w))[:max_size - 2]
    return {w: i for i, w in enumerate(best, start=2)}


class ForumPosts(Dataset):
    def __init__(self, path, max_size=400):
        with open(path) as fh:
            self.rows = [json.loads(line) for line in fh]
        self.vocab = build_vocab((r["text"] for r in self.rows), max_size)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        ids = [self.vocab.get(w, UNK) for w in tokenize(row["text"])]
        return torch.tensor(ids), TOPICS.index(row["topic"])


def pad_batch(batch):
    ids, topics = zip(*batch)
    return pad_sequence(ids, batch_first=True, padding_value=PAD), torch.tensor(topics)
