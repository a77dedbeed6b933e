import itertools
import os

import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", 0))
torch.manual_seed(seed)
np.random.seed(seed)

# all 4-bit words, is the number of ones odd?
words = np.array(list(itertools.product([0, 1], repeat=4)), dtype=np.float32)
odd = words.sum(axis=1, keepdims=True) % 2

x_train = torch.from_numpy(words)
y_train = torch.from_numpy(odd.astype(np.float32))


class ParityNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return torch.sigmoid(self.fc2(x))


net = ParityNet()
criterion = nn.MSELoss()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
epochs = 400
batch_size = 4

for epoch in range(epochs):
    order = torch.randperm(len(x_train))
    for i in range(0, len(x_train), batch_size):
        rows = order[i:i + batch_size]
        opt.zero_grad()
        loss = criterion(net(x_train[rows]), y_train[rows])
        loss.backward()
        opt.step()

with torch.no_grad():
    right = ((net(x_train) > 0.5).float() == y_train).float().mean()
    total = criterion(net(x_train), y_train)
print(f"loss {total.item():.4f} accuracy {right.item():.3f}")
