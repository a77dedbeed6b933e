# Homework 2: digits with a small MLP
import os
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(int(os.environ.get("SEED", 0)))
data = load_digits()
X_train, X_test, y_train, y_test = train_test_split(data.data / 16.0, data.target, test_size=0.25, random_state=1)
X_train = torch.tensor(X_train, dtype=torch.float32)
X_test = torch.tensor(X_test, dtype=torch.float32)
y_train = torch.tensor(y_train)
y_test = torch.tensor(y_test)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(64, 64)
        self.fc2 = nn.Linear(64, 32)
        self.out = nn.Linear(32, 10)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.softmax(self.out(x))


net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=2)

for epoch in range(15):
    perm = torch.randperm(len(X_train))
    running = 0.0
    for i in range(0, len(X_train), 32):
        idx = perm[i : i + 32]
        optimizer.zero_grad()
        out = net(X_train[idx])
        loss = criterion(out, y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item()
    print("Epoch", epoch + 1, "loss", running)

with torch.no_grad():
    pred = net(X_test).argmax(1)
print("Test accuracy:", (pred == y_test).float().mean().item())
