"""Voice screening: sustained vowels, twelve acoustic measures each, one network."""
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupShuffleSplit
from sklearn.preprocessing import StandardScaler
from torch import nn, optim


@dataclass
class Settings:
    path: str = "voice.parquet"
    test_size: float = 0.25
    epochs: int = 40
    lr: float = 3e-3
    batch: int = 64
    width: int = 64
    seed: int = 6


class Screener(nn.Module):
    def __init__(self, n_in, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(n_in, width), nn.Linear(width, width)])
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.last(x).flatten()


def prepare(s: Settings):
    df = pd.read_parquet(s.path)
    ids = ["speaker", "session", "phonation", "diagnosis"]
    X = df.drop(columns=ids).to_numpy(np.float32)
    y = df["diagnosis"].to_numpy()
    splitter = GroupShuffleSplit(n_splits=1, test_size=s.test_size, random_state=s.seed)
    train, test = next(splitter.split(X, y, groups=df["session"]))
    scaler = StandardScaler().fit(X[train])
    f = lambda idx: (torch.tensor(scaler.transform(X[idx]), dtype=torch.float32), torch.tensor(y[idx], dtype=torch.float32))
    return f(train), f(test)


def fit(model, data, s: Settings):
    x, y = data
    opt = optim.Adam(model.parameters(), lr=s.lr)
    for epoch in range(s.epochs):
        order = torch.randperm(len(x))
        for i in order.split(s.batch):
            opt.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[i]), y[i])
            loss.backward()
            opt.step()
        if (epoch + 1) % 10 == 0:
            print(f"  {epoch + 1:3d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    s = Settings()
    torch.manual_seed(s.seed)
    train, test = prepare(s)
    print("recordings:", len(train[1]), "train", len(test[1]), "test")
    model = Screener(train[0].shape[1], s.width)
    fit(model, train, s)
    with torch.no_grad():
        score = torch.sigmoid(model(test[0])).numpy()
    truth = test[1].numpy()
    print(f"AUC {roc_auc_score(truth, score):.3f}")
    print(f"balanced accuracy {balanced_accuracy_score(truth, score > 0.5):.3f}")
