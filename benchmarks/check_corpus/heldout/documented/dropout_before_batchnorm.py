from torch import nn


def mlp(n_in, n_out, width=128):
    return nn.Sequential(
        nn.Linear(n_in, width),
        nn.Dropout(0.3),
        nn.BatchNorm1d(width),
        nn.ReLU(),
        nn.Linear(width, n_out),
    )
