import os

import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

# ---------- hyper parameters ----------
num_epochs = 2
batch_size = 128
learning_rate = 0.001
# --------------------------------------

torch.manual_seed(int(os.environ.get("SEED", 0)))
d = load_digits()
images = torch.tensor(d.images / 16, dtype=torch.float32)[:, None]
labels = torch.tensor(d.target)
train_loader = DataLoader(TensorDataset(images[:1400], labels[:1400]), batch_size=batch_size, shuffle=True)
test_loader = DataLoader(TensorDataset(images[1400:], labels[1400:]), batch_size=batch_size)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


model = ConvNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=learning_rate)
for epoch in range(num_epochs):
    for images_, labels_ in train_loader:
        loss = criterion(model(images_), labels_)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch + 1}, loss {loss.item():.4f}")
correct = 0
with torch.no_grad():
    for images_, labels_ in test_loader:
        correct += (model(images_).argmax(1) == labels_).sum().item()
print(f"Test accuracy: {100 * correct / len(test_loader.dataset):.2f} %")
