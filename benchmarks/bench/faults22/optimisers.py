"""The optimiser of a configuration, with the constants of Keras where PyTorch's differ."""

from __future__ import annotations

from bench.faults22.configuration import Configuration

_CALLS = {
    "sgd": "torch.optim.SGD(model.parameters(), lr={rate})",
    "adam": "torch.optim.Adam(model.parameters(), lr={rate}, eps=1e-7)",
    "rmsprop": "torch.optim.RMSprop(model.parameters(), lr={rate}, alpha=0.9, eps=1e-7)",
    "adadelta": "torch.optim.Adadelta(model.parameters(), lr={rate}, rho=0.95, eps=1e-7)",
}


def optimiser_line(configuration: Configuration, rate: str) -> str:
    return "optimizer = " + _CALLS[configuration.optimiser.name].format(rate=rate)
