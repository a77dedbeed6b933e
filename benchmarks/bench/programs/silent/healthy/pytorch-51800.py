"""A regressor with spectrally normalised layers; its error before training sets the size of the loss."""
import os

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class LipschitzNet(nn.Module):
    def __init__(self, inputs=6, width=48):
        super().__init__()
        self.first = spectral_norm(nn.Linear(inputs, width))
        self.second = spectral_norm(nn.Linear(width, width))
        self.third = spectral_norm(nn.Linear(width, width))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.relu(self.first(x))
        h = torch.relu(self.second(h))
        h = torch.relu(self.third(h))
        return self.out(h).squeeze(1)


def table(count):
    x = torch.randn(count, 6)
    y = torch.sin(x[:, 0]) + 0.5 * x[:, 1] * torch.tanh(x[:, 2]) + 0.1 * torch.randn(count)
    return x, y


@torch.no_grad()
def error(model, x, y):
    model.eval()
    return nn.functional.mse_loss(model(x), y).item()


x, y = table(1500)
held_x, held_y = table(400)
model = LipschitzNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)

before = error(model, held_x, held_y)
print(f"before training: {before:.4f}")
for epoch in range(12):
    model.train()
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets) / before
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} held-out error {error(model, held_x, held_y):.4f}")
