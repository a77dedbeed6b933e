"""nn.MultiheadAttention used directly, with and without returned weights, trained and evaluated."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(12)


class Pool(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, 1, width))
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True, dropout=0.1)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        own, _ = self.attention(x, x, x, need_weights=False)
        pooled, weights = self.attention(self.query.expand(len(x), -1, -1), self.norm(x + own), x)
        return self.out(pooled[:, 0]).squeeze(-1), weights


model = Pool()
x = torch.randn(48, 6, 16)
y = x[:, 0, 0] * 2 - x[:, 1, 1]
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(20):
    model.train()
    prediction, weights = model(x)
    loss = nn.functional.smooth_l1_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        prediction, weights = model(x)
        fused, _ = model.attention(x, x, x, need_weights=False)
    print(
        step,
        repr(loss.item()),
        repr(prediction.sum().item()),
        repr(weights.std().item()),
        repr(fused.sum().item()),
    )
finish(model, optimizer)
