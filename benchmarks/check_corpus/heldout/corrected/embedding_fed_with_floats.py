import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 16)
        self.fc = nn.Linear(16, 2)

    def forward(self, ids):
        return self.fc(self.emb(ids).mean(1))


model = Bag()
ids = torch.randint(0, 100, (64, 12))
y = torch.randint(0, 2, (64,))
opt = torch.optim.Adam(model.parameters())
opt.zero_grad()
loss = nn.functional.cross_entropy(model(ids), y)
loss.backward()
opt.step()
