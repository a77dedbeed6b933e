import torch
from torch import nn
from torch.utils.data import DataLoader

HIDDEN = 100


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.l1 = nn.Linear(784, HIDDEN)
        self.act = nn.ReLU()
        self.l2 = nn.Linear(HIDDEN, 10)
        self.prob = nn.Softmax(dim=1)

    def forward(self, x):
        x = self.act(self.l1(self.flatten(x)))
        return self.prob(self.l2(x))


def train(dataset):
    net = Digits()
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters())
    for images, labels in DataLoader(dataset, batch_size=64, shuffle=True):
        opt.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()
        opt.step()
