"""Semi-supervised node classification with a hand-written GCN on a stochastic block model."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

N, K, FEAT = 300, 3, 16
y = torch.arange(N) % K
same = y[:, None] == y[None, :]
prob = torch.where(same, torch.tensor(0.08), torch.tensor(0.012))
upper = torch.triu(torch.rand(N, N) < prob, diagonal=1).float()
A = upper + upper.t() + torch.eye(N)
d = A.sum(1).rsqrt()
A_hat = d[:, None] * A * d[None, :]

centers = torch.randn(K, FEAT) * 0.5
X = centers[y] + torch.randn(N, FEAT)

perm = torch.randperm(N)
train_idx, val_idx, test_idx = perm[:60], perm[60:120], perm[120:]


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, adj, h):
        return adj @ (h @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, hidden=16, dropout=0.5):
        super().__init__()
        self.gc1 = GraphConv(FEAT, hidden)
        self.gc2 = GraphConv(hidden, K)
        self.dropout = dropout

    def forward(self, adj, x):
        x = F.relu(self.gc1(adj, x))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(adj, x), dim=1)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(200):
    model.train()
    optimizer.zero_grad()
    out = model(A_hat, X)
    loss = F.nll_loss(out[train_idx], y[train_idx])
    loss.backward()
    optimizer.step()
    if epoch % 25 == 24:
        model.eval()
        with torch.no_grad():
            pred = model(A_hat, X).argmax(1)
        accs = [(pred[i] == y[i]).float().mean().item() for i in (train_idx, val_idx, test_idx)]
        print("epoch {:3d} loss {:.4f} train {:.3f} val {:.3f} test {:.3f}".format(epoch + 1, loss.item(), *accs))
