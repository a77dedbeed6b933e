import json

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from vocab import Vocab, words

QUEUES = ["access", "billing", "hardware", "software"]


def read_jsonl(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


class TrainTickets(Dataset):
    def __init__(self, path):
        records = read_jsonl(path)
        tokens = [words(r["text"]) for r in records]
        self.vocab = Vocab().fit(tokens)
        self.items = [(torch.tensor(self.vocab.ids(t)), QUEUES.index(r["queue"])) for t, r in zip(tokens, records)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class ScoringTickets(Dataset):
    """Tickets to be scored with the vocabulary of a trained model."""

    def __init__(self, path, vocab):
        self.records = read_jsonl(path)
        self.vocab = vocab

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        rec = self.records[i]
        tokens = rec["text"].split()
        return torch.tensor(self.vocab.ids(tokens)), QUEUES.index(rec["queue"])


def collate(batch):
    seqs, labels = zip(*batch)
    return pad_sequence(seqs, batch_first=True, padding_value=Vocab.PAD), torch.tensor(labels)
