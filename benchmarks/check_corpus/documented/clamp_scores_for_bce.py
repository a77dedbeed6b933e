import torch
import torch.nn.functional as F
from torch import nn


class Click(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(1000, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, ids):
        score = self.out(self.emb(ids).mean(1)).squeeze(1)
        return score.clamp(1e-4, 1 - 1e-4)


model = Click()
opt = torch.optim.Adam(model.parameters())
ids, y = torch.randint(0, 1000, (64, 5)), torch.randint(0, 2, (64,)).float()
opt.zero_grad()
loss = F.binary_cross_entropy(model(ids), y)
loss.backward()
opt.step()
