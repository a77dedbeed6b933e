"""sklearn-like wrapper around a network."""
import os

import numpy as np
import torch
from sklearn.datasets import fetch_openml, make_regression  # noqa: F401
from torch import nn


class TorchRegressor:
    def __init__(self, hidden_layer_sizes=(50, 50), learning_rate_init=5.0, max_iter=40, batch_size=50, activation="logistic", random_state=0):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.activation = activation
        torch.manual_seed(random_state)

    def _build(self, n_in):
        act = {"relu": nn.ReLU, "tanh": nn.Tanh, "logistic": nn.Sigmoid}[self.activation]
        layers, last = [], n_in
        for h in self.hidden_layer_sizes:
            layers.append(nn.Linear(last, h))
            layers.append(act())
            last = h
        layers.append(nn.Linear(last, 1))
        return nn.Sequential(*layers)

    def fit(self, X, y):
        X = torch.as_tensor(X, dtype=torch.float32)
        y = torch.as_tensor(y, dtype=torch.float32).view(-1, 1)
        self.net_ = self._build(X.shape[1])
        opt = torch.optim.SGD(self.net_.parameters(), lr=self.learning_rate_init)
        self.loss_curve_ = []
        for _ in range(self.max_iter):
            for idx in torch.randperm(len(X)).split(self.batch_size):
                opt.zero_grad()
                loss = nn.functional.mse_loss(self.net_(X[idx]), y[idx])
                loss.backward()
                opt.step()
            self.loss_curve_.append(loss.item())
        return self

    @torch.no_grad()
    def predict(self, X):
        return self.net_(torch.as_tensor(X, dtype=torch.float32)).squeeze(1).numpy()

    def score(self, X, y):
        p = self.predict(X)
        return 1 - ((p - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()


X, y = make_regression(1200, 10, n_informative=8, noise=5.0, random_state=3)
y = y / y.std()
reg = TorchRegressor(random_state=int(os.environ.get("SEED", 0))).fit(X[:900], y[:900])
print(f"R2 on test: {reg.score(X[900:], y[900:]):.4f}")
