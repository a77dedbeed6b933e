import copy
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

config = dict(
    n=12000,
    fraud_rate=0.03,
    n_features=20,
    hidden=32,
    batch_size=128,
    accum=2,
    epochs=10,
    lr=2e-3,
    patience=4,
    seed=13,
)


def make_transactions(cfg):
    rng = np.random.RandomState(cfg["seed"])
    n, d = cfg["n"], cfg["n_features"]
    y = (rng.rand(n) < cfg["fraud_rate"]).astype(np.float32)
    x = rng.randn(n, d)
    direction = rng.randn(d)
    direction /= np.linalg.norm(direction)
    x += 4.0 * y[:, None] * direction
    # amounts are log-normal, counters are integers
    x[:, 0] = np.exp(3 + 0.8 * x[:, 0])
    x[:, 1] = np.round(20 + 6 * x[:, 1])
    return x.astype(np.float32), y


def preprocess(x_train, x_other):
    def f(x):
        x = x.copy()
        x[:, 0] = np.log1p(x[:, 0])
        return x
    a = f(x_train)
    mu, sd = a.mean(0), a.std(0)
    return [torch.from_numpy((f(x) - mu) / sd) for x in [x_train] + x_other]


class FraudNet(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d, h), nn.BatchNorm1d(h), nn.ReLU(),
            nn.Linear(h, h // 2), nn.BatchNorm1d(h // 2), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(h // 2, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


class FraudTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg["seed"])
        x, y = make_transactions(cfg)
        a, b = int(0.6 * len(x)), int(0.8 * len(x))
        xt, xv, xs = preprocess(x[:a], [x[a:b], x[b:]])
        yt, yv, ys = (torch.from_numpy(v) for v in (y[:a], y[a:b], y[b:]))
        self.val, self.test = (xv, yv), (xs, ys)

        counts = torch.bincount(yt.long())
        w = (1.0 / counts.float())[yt.long()]
        sampler = WeightedRandomSampler(w.tolist(), num_samples=len(yt), replacement=True)
        self.loader = DataLoader(TensorDataset(xt, yt), batch_size=cfg["batch_size"], sampler=sampler, drop_last=True)
        print(f"train: {counts[0].item()} legit, {counts[1].item()} fraud")

        self.model = FraudNet(cfg["n_features"], cfg["hidden"])
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=cfg["lr"], weight_decay=1e-3)

    @torch.no_grad()
    def rates(self, x, y):
        """share of flagged transactions among the fraudulent and among the legitimate ones"""
        caught = self.model(x[y == 1]) > 0
        false_alarm = self.model(x[y == 0]) > 0
        return caught.float().mean().item(), false_alarm.float().mean().item()

    def train_epoch(self):
        self.model.train()
        total = 0.0
        self.optimizer.zero_grad()
        for i, (xb, yb) in enumerate(self.loader):
            loss = self.criterion(self.model(xb), yb)
            (loss / self.cfg["accum"]).backward()
            if (i + 1) % self.cfg["accum"] == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
            total += loss.item()
        return total / len(self.loader)

    def fit(self):
        best, state, bad = -1.0, None, 0
        for epoch in range(self.cfg["epochs"]):
            loss = self.train_epoch()
            tpr, fpr = self.rates(*self.val)
            score = 0.5 * (tpr + 1 - fpr)
            print(f"epoch {epoch:2d} loss {loss:.4f} val recall {tpr:.3f} false alarms {fpr:.3f} balanced acc {score:.3f}")
            if score > best:
                best, state, bad = score, copy.deepcopy(self.model.state_dict()), 0
            else:
                bad += 1
                if bad > self.cfg["patience"]:
                    break
        self.model.load_state_dict(state)
        tpr, fpr = self.rates(*self.test)
        print(f"TEST recall {tpr:.3f} false alarms {fpr:.3f} balanced accuracy {0.5 * (tpr + 1 - fpr):.3f}")


FraudTrainer(config).fit()
