import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(30, 128)
        self.drop = nn.Dropout(0.4)
        self.fc2 = nn.Linear(128, 2)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


data = TensorDataset(torch.randn(1000, 30), torch.randint(0, 2, (1000,)))
train_set, val_set = random_split(data, [800, 200])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    correct = 0
    with torch.no_grad():
        for x, y in val_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(epoch, correct / len(val_set))
