import os

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
WORDS, LENGTH = 300, 18
tone = torch.randn(WORDS)


def sentences(n):
    tokens = torch.randint(0, WORDS, (n, LENGTH))
    mood = (tone[tokens].sum(1) > 0).long()
    return tokens, mood


class MoodNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, 2)

    def forward(self, tokens):
        mean = self.embed(tokens).mean(dim=1)
        return self.outer(F.relu(self.inner(mean)))


train = DataLoader(TensorDataset(*sentences(2500)), batch_size=50, shuffle=True)
check_tokens, check_mood = sentences(500)
net = MoodNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    net.train()
    for tokens, mood in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(tokens), mood)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = (net(check_tokens).argmax(1) == check_mood).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right:.3f}")
