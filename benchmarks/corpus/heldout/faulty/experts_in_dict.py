import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class MultiResolution(nn.Module):
    """Conv branches with several kernel sizes, joined by a linear head."""

    def __init__(self, kernels=(3, 7, 15), ch=8, n_out=4):
        super().__init__()
        self.branches = {k: nn.Conv1d(1, ch, k, padding=k // 2) for k in kernels}
        self.head = nn.Linear(ch * len(kernels), n_out)

    def forward(self, x):
        feats = [torch.relu(conv(x)).amax(-1) for conv in self.branches.values()]
        return self.head(torch.cat(feats, 1))


MOTIFS = 1.0 * torch.randn(4, 9)


def strands(n, T=48):
    k = torch.randint(0, 4, (n,))
    x = 0.5 * torch.randn(n, T)
    for i in range(n):
        p = int(torch.randint(0, T - 9, ()))
        x[i, p:p + 9] += MOTIFS[k[i]]
    return x[:, None], k


x, y = strands(1400)
xt, yt = strands(400)
model = MultiResolution()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    model.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[b]), y[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {tot / 35:.4f} test acc {acc:.3f}")
