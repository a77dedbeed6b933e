"""One module called twice, modules inside modules, output weights tied to the embedding."""

import torch
from common import finish, seed_everything
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.Sequential(nn.ELU(), nn.Linear(width, width)))

    def forward(self, x):
        return x + self.inner(x)


class TiedModel(nn.Module):
    def __init__(self, vocabulary=12, width=8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.block = Block(width)
        self.again = self.block  # the same object under a second name
        self.decoder = nn.Linear(width, vocabulary, bias=False)
        self.decoder.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        x = self.block(x)
        x = self.again(self.block(x))
        return self.decoder(x)


seed_everything(14)
model = TiedModel()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
tokens = torch.randint(12, (32, 6))
for step in range(20):
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 12), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
print("tied", model.decoder.weight is model.embed.weight)
finish(model, optimizer)
