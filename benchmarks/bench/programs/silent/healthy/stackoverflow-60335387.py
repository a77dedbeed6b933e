"""A small convolutional network on drawn digits."""
import os

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

GLYPHS = (
    "111101101101111", "010110010010111", "111001111100111", "111001111001111", "101101111001001",
    "111100111001111", "111100111101111", "111001001001001", "111101111101111", "111101111001111",
)


def digits(count):
    """5 × 3 glyphs, enlarged, at a random place of a 16 × 16 image, with noise."""
    labels = torch.randint(0, 10, (count,))
    glyphs = torch.tensor([[float(c) for c in glyph] for glyph in GLYPHS]).view(10, 5, 3)
    large = glyphs.repeat_interleave(2, 1).repeat_interleave(2, 2)
    images = 0.3 * torch.rand(count, 1, 16, 16)
    for image, label in zip(images, labels):
        row, column = torch.randint(0, 6, (1,)).item(), torch.randint(0, 10, (1,)).item()
        image[0, row : row + 10, column : column + 6] += large[label]
    return images, labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3)
        self.conv2 = nn.Conv2d(16, 32, 3)
        self.fc1 = nn.Linear(32 * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


train_set = TensorDataset(*digits(2000))
test_images, test_labels = digits(500)
loader = DataLoader(train_set, batch_size=50, shuffle=True)
net = Net()
optimizer = optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(8):
    net.train()
    running = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        output = net(images)
        loss = F.cross_entropy(output, labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
    net.eval()
    with torch.no_grad():
        right = (net(test_images).argmax(1) == test_labels).float().mean().item()
    print(f"epoch {epoch} loss {running / len(loader):.4f} test accuracy {right:.3f}")
