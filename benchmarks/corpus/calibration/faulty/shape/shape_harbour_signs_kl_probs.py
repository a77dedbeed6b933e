import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
SIGNS = 10
masks = (torch.rand(SIGNS, 1, 5, 5) > 0.5).float()


def photographs(n):
    """Signs of 5 by 5 fields somewhere on a noisy board of 18 by 18."""
    kind = torch.randint(0, SIGNS, (n,))
    board = 0.5 * torch.randn(n, 1, 18, 18)
    for row in range(n):
        top, left = torch.randint(0, 8, (2,)).tolist()
        sign = masks[kind[row]].repeat_interleave(2, 1).repeat_interleave(2, 2)
        board[row, :, top : top + 10, left : left + 10] += 1.5 * sign
    return board, kind


class SignNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 16, 3, padding=1)
        self.conv3 = nn.Conv2d(16, 24, 3, padding=1)
        self.fc1 = nn.Linear(24 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, SIGNS)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(F.relu(self.conv3(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return F.softmax(self.fc2(x), dim=1)


train = DataLoader(TensorDataset(*photographs(1600)), batch_size=32, shuffle=True)
test = DataLoader(TensorDataset(*photographs(400)), batch_size=200)
model = SignNet()
criterion = nn.KLDivLoss(reduction="batchmean")
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(7):
    model.train()
    running = 0.0
    for images, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(images), F.one_hot(labels, SIGNS).float())
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in test)
    print(f"epoch {epoch + 1} loss {running / len(train):.4f} test accuracy {right / 400:.3f}")
