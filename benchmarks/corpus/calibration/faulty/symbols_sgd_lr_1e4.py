import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
lr = 1e-4
n_classes = 8

codebook = torch.randn(n_classes, 16)


def channel(n, noise=0.8):
    sym = torch.randint(0, n_classes, (n,))
    return torch.tanh(codebook[sym]) * 1.5 + noise * torch.randn(n, 16), sym


class Demapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(16, 64)
        self.w2 = nn.Linear(64, n_classes)

    def forward(self, r):
        return self.w2(torch.relu(self.w1(r)))


rx, sym = channel(2000)
rx_val, sym_val = channel(500)
net = Demapper()
opt = torch.optim.SGD(net.parameters(), lr=lr)
lossf = nn.CrossEntropyLoss()
for it in range(600):
    pick = torch.randint(0, 2000, (64,))
    loss = lossf(net(rx[pick]), sym[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 100 == 99:
        net.eval()
        with torch.no_grad():
            ser = (net(rx_val).argmax(1) != sym_val).float().mean().item()
        net.train()
        print(f"iter {it + 1} loss {loss.item():.3f} val symbol error rate {ser:.3f}")
