"""Captions for small pictures: a processor turns texts and pictures of a batch into one row of tokens per sample."""
import os
from functools import partial

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
WORDS = ["<pad>", "a", "red", "green", "blue", "square", "on", "the", "left", "right", "top", "bottom"]
CODES = {word: number for number, word in enumerate(WORDS)}


class Captions(Dataset):
    """A coloured square in one corner of a 6 × 6 picture, and a sentence about it."""

    def __init__(self, count):
        self.colours = torch.randint(0, 3, (count,))
        self.corners = torch.randint(0, 4, (count,))
        self.noise = 0.2 * torch.randn(count, 3, 6, 6)

    def __len__(self):
        return len(self.colours)

    def __getitem__(self, index):
        colour, corner = int(self.colours[index]), int(self.corners[index])
        picture = self.noise[index].clone()
        row, column = 3 * (corner // 2), 3 * (corner % 2)
        picture[colour, row : row + 3, column : column + 3] += 1.0
        words = ["a", WORDS[2 + colour], "square", "on", "the", WORDS[10 + corner // 2], WORDS[8 + corner % 2]]
        return {"text": " ".join(words), "images": [picture]}


class Processor:
    """Makes tensors of the texts and pictures of several samples."""

    def __call__(self, text, images):
        if not isinstance(images[0], list):
            images = [images]
        rows, pictures = [], []
        for sentence, own in zip(text, images):
            rows.append(torch.tensor([CODES[word] for word in sentence.split()]))
            pictures.append(own[0])
        return nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.stack(pictures)


def collate(samples, processor):
    texts = [sample["text"] for sample in samples]
    images = [image for sample in samples for image in sample["images"]]
    return processor(text=texts, images=images)


class Captioner(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.see = nn.Sequential(nn.Flatten(), nn.Linear(108, width), nn.Tanh())
        self.words = nn.Embedding(len(WORDS), width)
        self.tell = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, len(WORDS))

    def forward(self, tokens, pictures):
        hidden, _ = self.tell(self.words(tokens), self.see(pictures).unsqueeze(0))
        return self.out(hidden)


def loss_of(model, tokens, pictures):
    scores = model(tokens[:, :-1], pictures)
    return nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)


processor = Processor()
loader = DataLoader(Captions(2000), batch_size=50, shuffle=True, collate_fn=partial(collate, processor=processor))
test_loader = DataLoader(Captions(500), batch_size=50, collate_fn=partial(collate, processor=processor))
model = Captioner()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    total = 0.0
    for tokens, pictures in loader:
        optimizer.zero_grad()
        loss = loss_of(model, tokens, pictures)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        value = sum(loss_of(model, *batch).item() for batch in test_loader) / len(test_loader)
    print(f"epoch {epoch} loss {total / len(loader):.4f} test loss {value:.4f}")
