"""CNN with batch norm and dropout; activations written as functions and methods; a trainer class."""

import torch
import torch.nn.functional as F
from common import finish, seed_everything
from torch import nn


class SmallCNN(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(8)
        self.act = nn.ReLU(inplace=True)
        self.gate = nn.Linear(8, 8)
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = self.act(self.bn2(self.conv2(x)))
        x = F.dropout(x.mean((2, 3)), 0.2, self.training)
        x = x * torch.sigmoid(self.gate(x))
        return self.head(x).softmax(dim=1)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)

    def fit(self, images, labels, epochs):
        for epoch in range(epochs):
            self.model.train()
            for i in range(0, len(images), 16):
                probabilities = self.model(images[i : i + 16])
                loss = F.nll_loss(torch.log(probabilities + 1e-8), labels[i : i + 16])
                self.optimizer.zero_grad(set_to_none=False)
                loss.backward()
                self.optimizer.step()
                print("epoch", epoch, "loss", repr(loss.item()))
            print("accuracy", repr(self.score(images, labels)))

    @torch.no_grad()
    def score(self, images, labels):
        self.model.eval()
        return (self.model(images).argmax(1) == labels).float().mean().item()


if __name__ == "__main__":
    seed_everything(3)
    labels = torch.randint(4, (64,))
    images = torch.randn(64, 1, 8, 8) + labels.view(-1, 1, 1, 1).float()
    trainer = Trainer(SmallCNN(), lr=0.05)
    trainer.fit(images, labels, 4)
    finish(trainer.model, trainer.optimizer)
