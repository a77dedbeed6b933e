"""A training loop to be called inside a test: everything in it that netmend listens to, in a few milliseconds."""

from __future__ import annotations

import hashlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 12)
        self.norm = nn.BatchNorm1d(12)
        self.second = nn.Linear(12, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = functional.dropout(functional.relu(self.norm(self.first(x))), 0.1, self.training)
        output: torch.Tensor = self.second(hidden)
        return output


def train(epochs: int = 2) -> str:
    """Train, evaluate, schedule, clip; the result names losses, weights and random state in one string."""
    torch.manual_seed(0)
    x, y = torch.randn(32, 6), torch.randint(3, (32,))
    loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    losses: list[float] = []
    for _ in range(epochs):
        model.train()
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(inputs), labels)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        model.eval()
        with torch.no_grad():
            losses.append(functional.cross_entropy(model(x), y).item())
    digest = hashlib.sha256(torch.get_rng_state().numpy().tobytes())
    for tensor in model.state_dict().values():
        digest.update(tensor.numpy().tobytes())
    return f"{losses} {digest.hexdigest()}"
