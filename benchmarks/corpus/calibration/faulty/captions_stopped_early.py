import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 2


class CountGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(8, 10)
        self.gru = nn.GRU(10, 32, batch_first=True)
        self.fc = nn.Linear(32, 5)

    def forward(self, s):
        return self.fc(self.gru(self.emb(s))[1][0])


def strings(n):
    s = torch.randint(0, 8, (n, 12))
    return s, (s == 3).sum(1).clamp(max=4)


torch.manual_seed(int(os.environ.get("SEED", "0")))
train = DataLoader(TensorDataset(*strings(1600)), batch_size=40, shuffle=True)
sv, cv = strings(400)
net = CountGRU()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
lossf = nn.CrossEntropyLoss()
for epoch in range(EPOCHS):
    net.train()
    for i, (s, c) in enumerate(train):
        opt.zero_grad()
        loss = lossf(net(s), c)
        loss.backward()
        opt.step()
        if i % 10 == 0:
            print(f"epoch {epoch} batch {i} loss {loss.item():.3f}")
net.eval()
with torch.no_grad():
    print(f"val acc {(net(sv).argmax(1) == cv).float().mean().item():.3f}")
