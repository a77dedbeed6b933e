import os
import torch
from torch import nn, optim

torch.manual_seed(int(os.environ.get("SEED", "0")))


def minerals(n):
    y = torch.randint(0, 5, (n,))
    x = torch.randn(n, 9)
    x[:, :5] += 1.8 * nn.functional.one_hot(y, 5)
    x[:, 5] += (y == 2) * x[:, 6]
    return x, y


class Trainer:
    def __init__(self, net, epochs):
        self.net = net
        self.epochs = epochs
        self.criterion = nn.NLLLoss()
        self.optimizer = optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

    def fit(self, x, y):
        for e in range(self.epochs):
            self.net.train()
            total = 0.0
            for idx in torch.randperm(len(x)).split(40):
                self.optimizer.zero_grad()
                scores = self.net(x[idx])
                loss = self.criterion(scores, y[idx])
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            print("epoch %d loss %.4g" % (e, total / (len(x) // 40)))

    @torch.inference_mode()
    def accuracy(self, x, y):
        self.net.eval()
        return (self.net(x).argmax(-1) == y).float().mean().item()


trainer = Trainer(nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 5)), epochs=12)
trainer.fit(*minerals(1600))
print("test accuracy %.3f" % trainer.accuracy(*minerals(500)))
