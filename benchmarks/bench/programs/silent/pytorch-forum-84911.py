"""Transfer learning: a small network trained on plain patterns is given a new head for other patterns."""
import copy
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
SIDE = 16


def patterns(count, classes, shift):
    """Waves whose direction and length belong to a class; the noise is as strong as the wave."""
    labels = torch.randint(0, classes, (count,))
    angle = (labels.float() + shift) * 3.1416 / classes
    rows, columns = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    phase = 6.28 * torch.rand(count, 1, 1)
    wave = torch.sin(
        0.9 * (torch.cos(angle)[:, None, None] * rows + torch.sin(angle)[:, None, None] * columns) + phase
    )
    return (wave + 0.7 * torch.randn(count, SIDE, SIDE)).unsqueeze(1), labels


class ConvNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2, bias=False), nn.BatchNorm2d(16), nn.SiLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.SiLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.classifier = nn.Linear(32 * 4, classes)

    def forward(self, x):
        return self.classifier(self.features(x))


def train(model, optimizer, loader, epochs):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def pretrained():
    """The weights that other people would download."""
    source = ConvNet(6)
    loader = DataLoader(TensorDataset(*patterns(1200, 6, 0.0)), batch_size=60, shuffle=True)
    train(source, torch.optim.Adam(source.parameters(), lr=3e-3), loader, 3)
    return copy.deepcopy(source.state_dict())


model = ConvNet(6)
model.load_state_dict(pretrained())
model.classifier = nn.Linear(model.classifier.in_features, 8)

for module in model.modules():
    if not isinstance(module, nn.BatchNorm2d):
        for parameter in module.parameters(recurse=False):
            parameter.requires_grad = False

optimizer = torch.optim.Adam(model.classifier.parameters(), lr=1e-2)
data = DataLoader(TensorDataset(*patterns(1200, 8, 0.5)), batch_size=60, shuffle=True)
train(model, optimizer, data, 6)
print(f"test accuracy {accuracy(model, *patterns(400, 8, 0.5)):.3f}")
