import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class PlainRNN(nn.Module):
    """Recurrent net with relu cells; reads a long series and reports its running total."""

    def __init__(self, hidden=24):
        super().__init__()
        self.inp = nn.Linear(1, hidden)
        self.rec = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(hidden, 1)
        with torch.no_grad():
            self.rec.weight.copy_(1.0 * torch.eye(hidden) + 0.01 * torch.randn(hidden, hidden))

    def forward(self, s):
        h = torch.zeros(s.shape[0], self.rec.in_features)
        for t in range(s.shape[1]):
            h = torch.relu(self.inp(s[:, t]) + self.rec(h))
        return self.out(h).squeeze(1)


def series(n, T=40):
    s = torch.randn(n, T, 1)
    return s, s.sum((1, 2)) / T ** 0.5


x, y = series(800)
xv, yv = series(200)
model = PlainRNN()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
mse = nn.MSELoss()
for epoch in range(12):
    model.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = mse(model(x[b]), y[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        print(f"epoch {epoch} train {tot / 20:.4f} val {mse(model(xv), yv).item():.4f}")
