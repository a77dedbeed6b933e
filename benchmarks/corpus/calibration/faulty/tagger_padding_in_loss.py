import os

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Sentences(Dataset):
    """Tag of a token depends on the token and on its left neighbour."""

    def __init__(self, n):
        self.items = []
        for _ in range(n):
            length = int(torch.randint(3, 8, (1,))) if torch.rand(1) < 0.9 else 60
            tok = torch.randint(1, 20, (length,))
            prev = torch.cat([torch.tensor([1]), tok[:-1]])
            self.items.append((tok, 1 + (tok + (prev > 10).long()) % 4))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    tok = pad_sequence([t for t, _ in batch], batch_first=True, padding_value=PAD)
    tag = pad_sequence([g for _, g in batch], batch_first=True, padding_value=PAD)
    return tok, tag


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, 24, batch_first=True)
        self.out = nn.Linear(24, 5)

    def forward(self, tok):
        return self.out(self.rnn(self.emb(tok))[0])


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train = DataLoader(Sentences(800), batch_size=16, shuffle=True, collate_fn=collate)
    test = DataLoader(Sentences(100), batch_size=50, collate_fn=collate)
    model = Tagger()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(5):
        model.train()
        total = 0.0
        for tok, tag in train:
            optimizer.zero_grad()
            logits = model(tok)
            loss = criterion(logits.reshape(-1, 5), tag.reshape(-1))
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        hit = cnt = 0
        with torch.no_grad():
            for tok, tag in test:
                real = tag != PAD
                hit += ((model(tok).argmax(-1) == tag) & real).sum().item()
                cnt += real.sum().item()
        print(f"epoch {epoch} loss {total / len(train):.3f} token accuracy {hit / cnt:.3f}")


if __name__ == "__main__":
    main()
