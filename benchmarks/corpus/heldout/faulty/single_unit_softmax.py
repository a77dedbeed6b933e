import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def spam(n):
    words = torch.poisson(torch.full((n, 15), 0.8))
    score = words[:, 0] * words[:, 1] + words[:, 2] - words[:, 3] * 0.8
    return (words - 0.8) / 0.9, (score > 0.9).float()


net = nn.Sequential(
    nn.Linear(15, 40),
    nn.ReLU(),
    nn.Linear(40, 1),
    nn.Softmax(dim=1),
)
loss_fn = nn.BCELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
x, y = spam(1600)
xv, yv = spam(400)
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
for epoch in range(8):
    net.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(net(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        acc = ((net(xv).squeeze(1) > 0.5).float() == yv).float().mean().item()
    print(f"epoch {epoch}  loss {loss.item():.3f}  val acc {acc:.3f}")
