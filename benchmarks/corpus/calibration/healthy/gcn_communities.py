# Node classification on a planted-partition graph; full batch, a few labelled nodes.
import os
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

N, K = 240, 4
labels = torch.arange(N) % K
p = torch.where(labels[:, None] == labels[None], 0.12, 0.015)
upper = torch.triu((torch.rand(N, N) < p).float(), diagonal=1)
adj = upper + upper.t() + torch.eye(N)
dinv = adj.sum(1).rsqrt()
A = dinv[:, None] * adj * dinv[None]
features = torch.eye(K)[labels] + 1.0 * torch.randn(N, K)
features = torch.cat([features, torch.randn(N, 12)], 1)

order = torch.randperm(N)
train_mask, val_mask, test_mask = order[:60], order[60:120], order[120:]


class GCN(nn.Module):
    def __init__(self, d, h, k):
        super().__init__()
        self.w1 = nn.Linear(d, h)
        self.w2 = nn.Linear(h, k)

    def forward(self, x):
        x = F.dropout(x, 0.3, training=self.training)
        x = F.relu(A @ self.w1(x))
        x = F.dropout(x, 0.5, training=self.training)
        return A @ self.w2(x)


model = GCN(features.size(1), 32, K)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-3)
best_val, best_test = 0.0, 0.0
for epoch in range(200):
    model.train()
    optimizer.zero_grad()
    out = model(features)
    loss = F.cross_entropy(out[train_mask], labels[train_mask])
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        pred = model(features).argmax(1)
    val = (pred[val_mask] == labels[val_mask]).float().mean().item()
    if val > best_val:
        best_val, best_test = val, (pred[test_mask] == labels[test_mask]).float().mean().item()
    if epoch % 40 == 39:
        print(f"epoch {epoch + 1} loss {loss.item():.4f} val {val:.3f} best test {best_test:.3f}")
