import re
from collections import Counter

WORD = re.compile(r"[a-z0-9']+")


def words(text):
    return WORD.findall(text.lower())


class Vocab:
    PAD, UNK = 0, 1

    def __init__(self, min_count=2):
        self.min_count = min_count
        self.index = {"<pad>": self.PAD, "<unk>": self.UNK}

    def fit(self, token_lists):
        counts = Counter(t for toks in token_lists for t in toks)
        for tok, c in counts.most_common():
            if c >= self.min_count:
                self.index[tok] = len(self.index)
        return self

    def ids(self, tokens):
        return [self.index.get(t, self.UNK) for t in tokens]

    def __len__(self):
        return len(self.index)
