import torch
import torch.nn as nn


class Reservoir(nn.Module):
    """Fixed random recurrent layer; only the readout is fitted."""

    def __init__(self, n_in, size):
        super().__init__()
        self.register_buffer("w_in", torch.randn(size, n_in) * 0.3)
        self.register_buffer("w", torch.randn(size, size) * 0.9 / size**0.5)

    @torch.no_grad()
    def forward(self, series):
        state = torch.zeros(self.w.shape[0])
        states = []
        for value in series:
            state = torch.tanh(self.w_in @ value + self.w @ state)
            states.append(state)
        return torch.stack(states)


def fit_readout(states, target):
    solution, _ = torch.lstsq(target, states)
    return solution[: states.shape[1]]
