import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def predict(self, x):
        return torch.softmax(self.model(x), dim=1)

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(32):
                xb, yb = x[rows], y[rows]
                self.optimizer.zero_grad()
                loss = self.criterion(self.predict(xb), yb)
                loss.backward()
                self.optimizer.step()

    def score(self, x, y):
        with torch.no_grad():
            return (self.predict(x).argmax(1) == y).float().mean().item()


torch.manual_seed(1)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
trainer = Trainer(nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 6)), lr=0.05)
trainer.fit(x[:640], y[:640], epochs=12)
print("val acc", trainer.score(x[640:], y[640:]))
