import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def beats(n, T=20):
    """(n, T, 3) three leads; class = order in which a bump runs over the leads"""
    order = torch.tensor([[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]])
    y = torch.randint(0, 4, (n,))
    t = torch.arange(T).float()
    x = 0.2 * torch.randn(n, T, 3)
    start = 2 + 4 * torch.rand(n)
    for j in range(3):
        pos = start + 4.0 * j
        bump = torch.exp(-((t[None] - pos[:, None]) ** 2) / 3)
        x[torch.arange(n), :, order[y, j]] += bump
    return x, y


class BeatLSTM(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(input_size=3, hidden_size=hidden)
        self.cls = nn.Linear(hidden, 4)

    def forward(self, x):
        seq, _ = self.lstm(x)
        return self.cls(seq[:, -1])


x, y = beats(1200)
xv, yv = beats(300)
dl = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
net = BeatLSTM()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    net.train()
    run = 0.0
    for xb, yb in dl:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
        run += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch} loss {run / len(dl):.3f} val acc {acc:.3f}")
