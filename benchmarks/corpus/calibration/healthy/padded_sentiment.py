import os
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 0
GOOD = ["great", "lovely", "superb", "fun", "bright", "clever"]
BAD = ["awful", "dull", "weak", "boring", "slow", "poor"]
FILL = ["the", "film", "was", "a", "story", "with", "actors", "and", "plot", "music", "some", "scenes"]
VOCAB = {w: i + 2 for i, w in enumerate(GOOD + BAD + FILL + ["not"])}


class Reviews(Dataset):
    def __init__(self, n):
        self.items = [self._one() for _ in range(n)]

    def _one(self):
        label = random.randint(0, 1)
        toks = random.choices(FILL, k=random.randint(3, 12))
        for _ in range(random.randint(1, 3)):
            flip = random.random() < 0.3
            word = random.choice(GOOD if (label == 1) != flip else BAD)
            at = random.randint(0, len(toks))
            toks[at:at] = ["not", word] if flip else [word]
        return torch.tensor([VOCAB[t] for t in toks]), label

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    seqs, labels = zip(*batch)
    return pad_sequence(seqs, batch_first=True, padding_value=PAD), torch.tensor(labels)


class TextNet(nn.Module):
    def __init__(self, vocab_size, dim=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.conv = nn.Conv1d(dim, 48, kernel_size=3, padding=1)
        self.fc = nn.Linear(48, 2)

    def forward(self, tokens):
        mask = (tokens != PAD).unsqueeze(1)
        h = torch.relu(self.conv(self.embedding(tokens).transpose(1, 2)))
        h = h.masked_fill(~mask, 0.0).amax(dim=2)
        return self.fc(h)


def main():
    seed = int(os.environ.get("SEED", "0"))
    random.seed(seed)
    torch.manual_seed(seed)
    train, test = Reviews(1500), Reviews(400)
    train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(test, batch_size=200, collate_fn=collate)
    model = TextNet(len(VOCAB) + 2)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        for tokens, labels in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(tokens), labels)
            loss.backward()
            optimizer.step()
        model.eval()
        hits = 0
        with torch.no_grad():
            for tokens, labels in test_loader:
                hits += (model(tokens).argmax(1) == labels).sum().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test acc {hits / len(test):.3f}")


if __name__ == "__main__":
    main()
