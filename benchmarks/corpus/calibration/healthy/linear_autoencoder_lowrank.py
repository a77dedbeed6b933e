"""Linear autoencoder (no activation on purpose): it should find the principal subspace of the data."""
import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

N, D, K = 1500, 20, 3
basis = torch.linalg.qr(torch.randn(D, K))[0]
codes = torch.randn(N, K) * torch.tensor([3.0, 2.0, 1.5])
data = codes @ basis.t() + 0.1 * torch.randn(N, D)
data -= data.mean(0)

encode = nn.Linear(D, K, bias=False)
decode = nn.Linear(K, D, bias=False)
model = nn.Sequential(encode, decode)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.MSELoss()

for epoch in range(8):
    for idx in torch.randperm(N).split(50):
        x = data[idx]
        loss = criterion(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} reconstruction {loss.item():.5f}")

_, s, vt = torch.linalg.svd(data, full_matrices=False)
best = (data - data @ vt[:K].t() @ vt[:K]).pow(2).mean().item()
with torch.no_grad():
    ours = criterion(model(data), data).item()
print(f"ours {ours:.5f}, best rank-{K} error {best:.5f}, variance {data.var().item():.3f}")
