"""Sharded training in small: the parameters of each layer are gathered into one flat tensor per layer."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Flattened(nn.Module):
    """Owns the parameters of a module as one flat tensor, which a sharded run would divide among processes."""

    def __init__(self, module):
        super().__init__()
        self.module = module
        named = dict(module.named_parameters(recurse=False))
        self.shapes = {name: parameter.shape for name, parameter in named.items()}
        self.flat = nn.Parameter(torch.cat([parameter.detach().flatten() for parameter in named.values()]))
        for name in named:
            delattr(module, name)

    def forward(self, x):
        pieces = self.flat.split([shape.numel() for shape in self.shapes.values()])
        for (name, shape), piece in zip(self.shapes.items(), pieces):
            setattr(self.module, name, piece.view(shape))
        return self.module(x)


class Accelerator:
    """Prepares what a script hands over."""

    def prepare(self, model, optimizer, loader):
        for name, child in model.named_children():
            if next(child.parameters(), None) is not None:
                setattr(model, name, Flattened(child))
        return model, optimizer, loader


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 64)
        self.second = nn.Linear(64, 64)
        self.out = nn.Linear(64, 3)

    def forward(self, x):
        return self.out(torch.relu(self.second(torch.relu(self.first(x)))))


def measurements(count):
    x = torch.randn(count, 10)
    score = x[:, 0] * x[:, 1] + torch.sin(2 * x[:, 2])
    return x, (score > -0.4).long() + (score > 0.4).long()


x, y = measurements(1500)
test_x, test_y = measurements(500)
accelerator = Accelerator()
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(10):
    model.train()
    total = 0.0
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        accuracy = (model(test_x).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} test accuracy {accuracy:.3f}")
