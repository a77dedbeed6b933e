"""Fine-tuning of a residual network of which the first stages are to stay as they were trained."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Stage(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, 5, padding=2)
        self.norm = nn.BatchNorm1d(outputs)
        self.skip = nn.Conv1d(inputs, outputs, 1)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + self.skip(x))


class Backbone(nn.Module):
    """Stages 1 to `frozen_stages` are neither trained nor do they change their statistics."""

    def __init__(self, widths=(1, 16, 24, 32), frozen_stages=-1):
        super().__init__()
        self.stages = nn.ModuleList(Stage(a, b) for a, b in zip(widths, widths[1:]))
        self.frozen_stages = frozen_stages
        self._freeze_stages()

    def forward(self, x):
        for stage in self.stages:
            x = nn.functional.avg_pool1d(stage(x), 2)
        return x.mean(-1)

    def _freeze_stages(self):
        for index in range(max(0, self.frozen_stages)):
            stage = self.stages[index]
            stage.eval()
            for parameter in stage.parameters():
                parameter.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self._freeze_stages()
        return self


class Classifier(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def tones(count, classes, low):
    y = torch.randint(0, classes, (count,))
    frequency = low + 0.25 * y.float() + 0.03 * torch.randn(count)
    time = torch.arange(64).float()
    x = torch.sin(frequency[:, None] * time + 6.28 * torch.rand(count, 1)) + 0.5 * torch.randn(count, 64)
    return x.unsqueeze(1), y


def fit(model, optimizer, data, epochs):
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in data:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(data):.4f}")


def pretrain():
    source = Classifier(Backbone(), 5)
    data = DataLoader(TensorDataset(*tones(1000, 5, 0.4)), batch_size=50, shuffle=True)
    fit(source, torch.optim.AdamW(source.parameters(), lr=3e-3), data, 3)
    return {name: value.clone() for name, value in source.backbone.state_dict().items()}


backbone = Backbone(frozen_stages=2)
backbone.load_state_dict(pretrain())
model = Classifier(backbone, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = DataLoader(TensorDataset(*tones(600, 4, 0.5)), batch_size=50, shuffle=True)
fit(model, optimizer, data, 6)

model.eval()
x, y = tones(400, 4, 0.5)
with torch.no_grad():
    print(f"test accuracy {(model(x).argmax(1) == y).float().mean().item():.3f}")
