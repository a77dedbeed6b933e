import os

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)


def mosaics(n):
    """Colour pictures of 10x10 as cameras give them: bytes, three channels."""
    y = torch.randint(0, 5, (n,))
    x = torch.randint(60, 160, (n, 3, 10, 10))
    for i in range(n):
        if y[i] < 3:
            x[i, y[i], ::2] += 35
        elif y[i] == 3:
            x[i, :, :, ::2] += 25
        else:
            x[i, :, :5, :5] += 25
    return x.float(), y


x_train, y_train = mosaics(1200)
x_test, y_test = mosaics(300)
x_train = x_train / 255 - 0.5
x_test = x_test / 255 - 0.5

model = nn.Sequential(
    nn.Conv2d(3, 12, 3),
    nn.Sigmoid(),
    nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3),
    nn.Sigmoid(),
    nn.Flatten(),
    nn.Linear(24 * 4, 40),
    nn.Sigmoid(),
    nn.Linear(40, 5),
)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=40, shuffle=True)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

NUM_EPOCHS = 3
for epoch in range(NUM_EPOCHS):
    total = 0
    for data, target in loader:
        optimizer.zero_grad()
        out = model(data)
        loss = criterion(out, target)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"Epoch {epoch + 1}/{NUM_EPOCHS} loss {total / len(loader):.4f}")

with torch.no_grad():
    acc = (model(x_test).argmax(1) == y_test).float().mean()
print(f"accuracy on test: {acc.item():.4f}")
