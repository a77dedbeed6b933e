import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def draw(count, generator):
    """Little pictures: a filled square, a frame, a cross, two bars."""
    images = 0.15 * torch.randn(count, 1, 14, 14, generator=generator)
    labels = torch.randint(0, 4, (count,), generator=generator)
    for image, label in zip(images, labels.tolist()):
        r, c = torch.randint(1, 6, (2,), generator=generator).tolist()
        patch = image[0, r : r + 7, c : c + 7]
        if label == 0:
            patch += 1
        elif label == 1:
            patch[[0, -1], :] += 1
            patch[:, [0, -1]] += 1
        elif label == 2:
            patch[3, :] += 1
            patch[:, 3] += 1
        else:
            patch[:, 1] += 1
            patch[:, 5] += 1
    return images, labels


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 3 * 3, 32)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, x):
        x = F.max_pool2d(torch.sigmoid(self.conv1(x)), 2)
        x = F.max_pool2d(torch.sigmoid(self.conv2(x)), 2)
        x = torch.sigmoid(self.fc1(x.flatten(1)))
        return self.fc2(x)


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    train = TensorDataset(*draw(1500, generator))
    test_images, test_labels = draw(300, generator)
    net = ShapeNet()
    loader = DataLoader(train, batch_size=50, shuffle=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(8):
        for images, labels in loader:
            optimizer.zero_grad()
            scores = net(images)
            loss = F.cross_entropy(scores, labels)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))
    net.eval()
    with torch.no_grad():
        accuracy = (net(test_images).argmax(1) == test_labels).float().mean().item()
    print(f"accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
