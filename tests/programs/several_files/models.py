"""Builds the network from the configuration."""

from torch import nn


class Regressor(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        sizes = [features, *hidden]
        self.body = nn.Sequential(
            *[nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in zip(sizes, sizes[1:])]
        )
        self.head = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


def build_model(config):
    return Regressor(config.features, config.hidden)
