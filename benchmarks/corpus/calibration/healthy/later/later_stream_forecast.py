"""
Prequential (test-then-train) one-step-ahead forecasting of an endless sensor stream.

Order matters, so nothing is shuffled, the batch size is one, and the hidden state is carried over
(detached) from chunk to chunk.  There is no test set: every point is predicted before it is learned from.
"""
import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

CHUNK = 16


class SensorStream(IterableDataset):
    def __init__(self, n_chunks, seed):
        self.n_chunks, self.seed = n_chunks, seed

    def __iter__(self):
        rnd = random.Random(self.seed)
        t, noise, last = 0, 0.0, 0.0
        for _ in range(self.n_chunks):
            rows = [last]
            for _ in range(CHUNK):
                noise = 0.7 * noise + 0.08 * rnd.gauss(0, 1)
                day = math.sin(2 * math.pi * t / 24)
                shift = math.sin(2 * math.pi * t / 9)
                last = day + 0.7 * shift * (1 + 0.5 * day) + noise
                rows.append(last)
                t += 1
            yield torch.tensor(rows, dtype=torch.float32).unsqueeze(-1)     # CHUNK + 1 values


class Forecaster(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x, h):
        z, h = self.gru(x, h)
        return x + self.head(z), h      # zero-initialised head: starts as the persistence forecast


def main():
    torch.manual_seed(4)
    model = Forecaster()
    opt = torch.optim.NAdam(model.parameters(), lr=3e-3)
    loader = DataLoader(SensorStream(n_chunks=700, seed=8), batch_size=1, num_workers=0)

    h = None
    sums = {"gru": 0.0, "persistence": 0.0}
    history = []
    for step, seq in enumerate(loader, 1):
        x, y = seq[:, :-1], seq[:, 1:]
        pred, h = model(x, h)
        loss = (pred - y).pow(2).mean()

        # score first ...
        sums["gru"] += loss.item()
        sums["persistence"] += (x - y).pow(2).mean().item()
        # ... then learn
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        h = h.detach()

        if step % 70 == 0:
            row = {k: v / 70 for k, v in sums.items()}
            history.append(row)
            print(f"t = {step * CHUNK:6d}  " + "  ".join(f"{k} mse {v:.4f}" for k, v in row.items()))
            sums = dict.fromkeys(sums, 0.0)
    print(f"last window: {history[-1]['gru'] / history[-1]['persistence']:.1%} of the persistence error "
          f"(innovation variance of the noise is {0.08 ** 2:.4f})")


if __name__ == "__main__":
    main()
