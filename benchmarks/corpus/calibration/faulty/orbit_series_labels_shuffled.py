import os

import numpy as np
import torch
import torch.nn as nn

seed = int(os.environ.get("SEED", "0"))
np.random.seed(seed)
torch.manual_seed(seed)

N, T = 1500, 24
kind = np.random.randint(0, 3, N)
t = np.arange(T)
series = np.empty((N, T, 1), dtype=np.float32)
for i, k in enumerate(kind):
    p = np.random.rand() * 6.28
    if k == 0:
        s = np.sin(0.5 * t + p)
    elif k == 1:
        s = np.sign(np.sin(0.5 * t + p))
    else:
        s = 2 * ((0.08 * t + p) % 1) - 1
    series[i, :, 0] = s + 0.15 * np.random.randn(T)

# mix the set before splitting
np.random.shuffle(series)
X = torch.from_numpy(series)
Y = torch.from_numpy(kind).long()
Xtr, Ytr, Xte, Yte = X[:1200], Y[:1200], X[1200:], Y[1200:]


class WaveGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 24, batch_first=True)
        self.fc = nn.Linear(24, 3)

    def forward(self, s):
        out, _ = self.gru(s)
        return self.fc(out.mean(dim=1))


model = WaveGRU()
optimiser = torch.optim.Adam(model.parameters(), lr=8e-3)
lossf = nn.CrossEntropyLoss()
for epoch in range(12):
    model.train()
    acc_loss = 0
    for ids in torch.randperm(len(Xtr)).split(40):
        optimiser.zero_grad()
        loss = lossf(model(Xtr[ids]), Ytr[ids])
        loss.backward()
        optimiser.step()
        acc_loss += loss.item() * len(ids)
    print("epoch %d loss %.4f" % (epoch, acc_loss / len(Xtr)))
model.eval()
with torch.no_grad():
    print("test accuracy %.3f" % (model(Xte).argmax(-1) == Yte).float().mean())
