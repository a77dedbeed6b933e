import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Stripes(Dataset):
    """Gratings in four orientations with random phase."""

    def __init__(self, n, size=12):
        angle = torch.randint(0, 4, (n,))
        theta = angle.float() * 3.14159 / 4 + 0.1 * torch.randn(n)
        yy, xx = torch.meshgrid(torch.arange(size).float(), torch.arange(size).float(), indexing="ij")
        phase = torch.rand(n, 1, 1) * 6.28
        wave = torch.sin(1.3 * (xx * theta.cos().view(-1, 1, 1) + yy * theta.sin().view(-1, 1, 1)) + phase)
        self.images = (wave + 0.4 * torch.randn(n, size, size)).unsqueeze(1)
        self.labels = angle

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveMaxPool2d(2),
        )
        self.classifier = nn.Linear(16 * 4, 4)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def accuracy(model, loader):
    model.eval()
    good = total = 0
    with torch.no_grad():
        for images, labels in loader:
            good += (model(images).argmax(1) == labels).sum().item()
            total += len(labels)
    return good / total


train_loader = DataLoader(Stripes(800), batch_size=32, shuffle=True)
test_loader = DataLoader(Stripes(300), batch_size=100)
model = SmallCNN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(8):
    model.train()
    epoch_loss = 0
    for images, labels in train_loader:
        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        epoch_loss += loss.item()
    print(f"Epoch {epoch + 1}/8 loss={epoch_loss / len(train_loader):.3f} test_acc={accuracy(model, test_loader):.3f}")
print(f"test accuracy {accuracy(model, test_loader):.3f}")
