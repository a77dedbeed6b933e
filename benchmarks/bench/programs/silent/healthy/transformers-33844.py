"""Which of two words comes first? An encoder with fused attention."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
WORDS, LENGTH, WIDTH, HEADS = 30, 12, 32, 4


class FusedAttention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.project(x).view(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        rate = self.dropout if self.training else 0.0
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=rate)
        return self.out(mixed.transpose(1, 2).reshape(batch, time, width))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.attention = FusedAttention(width, heads, dropout)
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.first_norm(x))
        return x + self.feed(self.second_norm(x))


class Encoder(nn.Module):
    def __init__(self, dropout=0.3):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.layers = nn.ModuleList(EncoderLayer(WIDTH, HEADS, dropout) for _ in range(2))
        self.classify = nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.classify(x.mean(1))


def texts(count):
    tokens = torch.randint(2, WORDS, (count, LENGTH))
    order = torch.rand(count, LENGTH).argsort(1)[:, :2].sort(1).values
    first = torch.randint(0, 2, (count,))
    rows = torch.arange(count)
    tokens[rows, order[:, 0]], tokens[rows, order[:, 1]] = first, 1 - first
    return tokens, first


loader = DataLoader(TensorDataset(*texts(1500)), batch_size=50, shuffle=True)
test_tokens, test_labels = texts(500)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    model.train()
    total = 0.0
    for tokens, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        accuracy = (model(test_tokens).argmax(1) == test_labels).float().mean().item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} test accuracy {accuracy:.3f}")
