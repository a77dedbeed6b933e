import os
import resource

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class SeqRegressor(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, seq):
        _, h = self.rnn(seq)
        return self.out(h[-1]).squeeze(-1)


def adding_problem(n, length=20):
    vals = torch.rand(n, length)
    marks = torch.zeros(n, length)
    for i in range(n):
        marks[i, torch.randperm(length)[:2]] = 1.0
    return torch.stack([vals, marks], -1), (vals * marks).sum(1)


x, y = adding_problem(2000)
xv, yv = adding_problem(300)
model = SeqRegressor()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
mse = nn.MSELoss()
history = []
for epoch in range(8):
    for idx in torch.randperm(2000).split(64):
        optimizer.zero_grad()
        loss = mse(model(x[idx]), y[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        history.append(mse(model(x[idx]), y[idx]))
    recent = sum(history[-32:]) / 32
    print(f"epoch {epoch} recent train mse {recent:.4f}")

model.eval()
with torch.no_grad():
    val = mse(model(xv), yv).item()
print(f"val mse {val:.4f}; peak rss {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
