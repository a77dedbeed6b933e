"""Noisy views of a few drawn shapes, made by two loader workers."""
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)


class NoisyShapes(Dataset):
    """Every image is turned, shifted and covered in noise, differently each time it is asked for."""

    def __init__(self, images, labels, noise, seed):
        self.images = images
        self.labels = labels
        self.noise = noise
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.labels)

    def augment(self, image):
        image = np.rot90(image, self.rng.integers(4))
        image = np.roll(image, self.rng.integers(-2, 3, size=2), axis=(0, 1))
        return image + self.noise * self.rng.standard_normal(image.shape)

    def __getitem__(self, index):
        image = self.augment(self.images[index])
        return torch.from_numpy(image.astype(np.float32).copy()).unsqueeze(0), int(self.labels[index])


def shapes(count, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=count)
    images = np.zeros((count, 12, 12))
    for image, label in zip(images, labels):
        size = rng.integers(5, 8)
        if label == 0:
            image[2 : 2 + size, 5:7] = 1
        elif label == 1:
            image[2 : 2 + size, 2 : 2 + size] = np.eye(size)
        elif label == 2:
            image[2 : 2 + size, 2] = image[1 + size, 2 : 2 + size] = 1
        else:
            image[2 : 2 + size, 2] = image[2 : 2 + size, 1 + size] = image[2, 2 : 2 + size] = 1
    return images, labels


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.out = nn.Linear(32 * 9, 4)

    def forward(self, x):
        return self.out(self.convolutions(x).flatten(1))


def main():
    train_set = NoisyShapes(*shapes(400, SEED + 1), noise=0.25, seed=SEED)
    test_set = NoisyShapes(*shapes(400, SEED + 2), noise=0.25, seed=SEED + 3)
    loader = DataLoader(train_set, batch_size=25, shuffle=True, num_workers=2)
    test_loader = DataLoader(test_set, batch_size=100)
    model = ShapeNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(14):
        model.train()
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        right = 0
        with torch.no_grad():
            for images, labels in test_loader:
                right += (model(images).argmax(1) == labels).sum().item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} test accuracy {right / len(test_set):.3f}")


if __name__ == "__main__":
    main()
