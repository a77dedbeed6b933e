import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

text = "the quick brown fox jumps over the lazy dog and runs away from the old grey wolf "
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
length = 8
inputs = torch.tensor([[index[c] for c in text[i:i + length]] for i in range(len(text) - length)])
targets = torch.tensor([index[text[i + length]] for i in range(len(text) - length)])


class CharModel(nn.Module):
    def __init__(self, vocab, size=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, 16)
        self.lstm = nn.LSTM(16, size, batch_first=True)
        self.out = nn.Linear(size, vocab)

    def forward(self, x):
        h, _ = self.lstm(self.embed(x))
        return self.out(h[:, -1])


net = CharModel(len(chars))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_function = nn.CrossEntropyLoss()

num_epochs = 150
for epoch in range(num_epochs):
    optimizer.zero_grad()
    loss = loss_function(net(inputs), targets)
    loss.backward()
    optimizer.step()

acc = (net(inputs).argmax(1) == targets).float().mean()
print(f"loss {loss.item():.4f} accuracy {acc.item():.3f}")
