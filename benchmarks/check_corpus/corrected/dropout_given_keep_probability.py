import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, keep_prob=0.9):
        super().__init__()
        self.fc1 = nn.Linear(50, 100)
        self.drop = nn.Dropout(1 - keep_prob)
        self.fc2 = nn.Linear(100, 3)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


print(Net()(torch.randn(2, 50)))
