"""Transformer encoder; evaluation under no_grad and inference_mode takes torch's fused path."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(11)


class Classifier(nn.Module):
    def __init__(self, vocabulary=20, width=16, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(torch.randn(1, 12, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, nhead=2, dim_feedforward=32, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens, padding=None):
        x = self.embed(tokens) + self.position
        x = self.encoder(x, src_key_padding_mask=padding)
        return self.head(x.mean(1))


tokens = torch.randint(1, 20, (64, 12))
tokens[::3, 9:] = 0
labels = tokens.sum(1) % 4
padding = tokens == 0
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

for epoch in range(4):
    model.train()
    for i in range(0, 64, 16):
        loss = criterion(model(tokens[i : i + 16], padding[i : i + 16]), labels[i : i + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, repr(loss.item()))
    model.eval()
    with torch.no_grad():
        out = model(tokens)
        print("no_grad", repr(out.sum().item()), repr(criterion(out, labels).item()))
        padded = model(tokens, padding)
        print("padded", repr(padded.sum().item()))
    with torch.inference_mode():
        print("inference_mode", repr(model(tokens).double().pow(2).sum().item()))
    # evaluation with gradients on takes the slow path, and so must stay on it
    print("grad on", repr(model(tokens).double().pow(2).sum().item()))

finish(model, optimizer)
