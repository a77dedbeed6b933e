import torch
import torch.nn as nn


class TwoTower(nn.Module):
    """Users and items meet in a common space."""

    def __init__(self, n_users, n_items, dim=32):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.user_mlp = nn.Linear(dim, dim)
        self.item_mlp = nn.Linear(dim, dim)

    def forward(self, u, i):
        a = self.user_mlp(self.user(u))
        b = self.user_mlp(self.item(i))
        return (a * b).sum(1)


model = TwoTower(100, 200)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
bce = nn.BCEWithLogitsLoss()
for _ in range(50):
    u, i = torch.randint(0, 100, (64,)), torch.randint(0, 200, (64,))
    y = ((u + i) % 2).float()
    optimizer.zero_grad()
    loss = bce(model(u, i), y)
    loss.backward()
    optimizer.step()
