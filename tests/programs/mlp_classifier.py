"""MLP classifier with DataLoaders, validation after every epoch, Adam."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

seed_everything(0)
x, y = blobs(160)
train_set, val_set = random_split(TensorDataset(x, y), [128, 32])
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
val_loader = DataLoader(val_set, batch_size=32)

model = nn.Sequential(
    nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 3)
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(5):
    model.train()
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        print(epoch, repr(loss.item()))
    model.eval()
    correct = 0
    with torch.no_grad():
        for inputs, labels in val_loader:
            outputs = model(inputs)
            correct += (outputs.argmax(1) == labels).sum().item()
            print("val", repr(criterion(outputs, labels).item()))
    print("accuracy", correct / len(val_set))

finish(model, optimizer)
