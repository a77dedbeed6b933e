import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

LOSS = {"ce": nn.CrossEntropyLoss, "bce": nn.BCEWithLogitsLoss, "mse": nn.MSELoss}


class Flowers(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        c = torch.randn(7, 10, generator=torch.Generator().manual_seed(0)) * 1.1
        self.label = torch.randint(0, 7, (n,), generator=g)
        self.x = c[self.label] + torch.randn(n, 10, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        onehot = torch.zeros(7)
        onehot[self.label[i]] = 1.0
        return self.x[i], onehot


class Experiment:
    def __init__(self, loss="bce", lr=1e-4, epochs=6):
        self.net = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 7), nn.Softmax(dim=1))
        self.loss = LOSS[loss]()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.epochs = epochs

    def run(self, train, test):
        for epoch in range(self.epochs):
            self.net.train()
            for x, t in train:
                self.opt.zero_grad()
                loss = self.loss(self.net(x), t)
                loss.backward()
                self.opt.step()
            print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {self.accuracy(test):.4f}")

    @torch.no_grad()
    def accuracy(self, loader):
        self.net.eval()
        good = sum((self.net(x).argmax(1) == t.argmax(1)).sum().item() for x, t in loader)
        return good / len(loader.dataset)


torch.manual_seed(int(os.environ.get("SEED", 0)))
Experiment().run(DataLoader(Flowers(1500, 1), 32, shuffle=True), DataLoader(Flowers(400, 2), 100))
