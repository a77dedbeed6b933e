import torch
from torch import nn


class StateClassifier(nn.Module):
    """Classifies machine states from a window of 3 channels with attention pooling."""

    def __init__(self, channels, dim, n_states):
        super().__init__()
        self.proj = nn.Linear(channels, dim)
        self.att = nn.Linear(dim, 1)
        self.head = nn.Linear(dim, n_states)

    def forward(self, x):
        h = torch.tanh(self.proj(x))
        w = torch.softmax(self.att(h), dim=1)
        pooled = (w * h).sum(1)
        probs = torch.softmax(self.head(pooled), dim=-1)
        return torch.log_softmax(probs, dim=-1)
