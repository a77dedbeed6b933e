"""Seven-segment digits with noise, a small convolutional network."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

SEGMENTS = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]


def draw(digit):
    image = torch.zeros(12, 12)
    top, left, right, middle, lower_left, lower_right, bottom = (int(s) for s in SEGMENTS[digit])
    image[1, 3:9] += top
    image[2:6, 3] += left
    image[2:6, 8] += right
    image[6, 3:9] += middle
    image[7:10, 3] += lower_left
    image[7:10, 8] += lower_right
    image[10, 3:9] += bottom
    return image.clamp(0, 1)


def make(count):
    labels = torch.randint(0, 10, (count,))
    images = torch.stack([torch.roll(draw(int(d)), (int(torch.randint(-1, 2, ())), int(torch.randint(-1, 2, ()))), (0, 1)) for d in labels])
    return (images + 0.25 * torch.randn_like(images)).unsqueeze(1), labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 3 * 3, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def train(model, loader, optimizer):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()


def test(model, data, target):
    model.eval()
    with torch.no_grad():
        output = model(data)
    return F.cross_entropy(output, target).item(), (output.argmax(1) == target).float().mean().item()


train_loader = DataLoader(TensorDataset(*make(1500)), batch_size=32, shuffle=True)
test_data, test_target = make(300)
model = Net()
optimizer = torch.optim.Adadelta(model.parameters(), lr=0.01)
for epoch in range(1, 9):
    train(model, train_loader, optimizer)
    loss, accuracy = test(model, test_data, test_target)
    print(f"epoch {epoch}: loss {loss:.4f} accuracy {accuracy:.3f}")
