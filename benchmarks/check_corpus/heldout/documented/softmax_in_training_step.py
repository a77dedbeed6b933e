import torch
from torch import nn


class Trainer:
    def __init__(self, model, rate):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate)

    def step(self, batch):
        images, labels = batch
        self.optimizer.zero_grad()
        probabilities = torch.softmax(self.model(images), dim=-1)
        loss = self.criterion(probabilities, labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def run(batches):
    trainer = Trainer(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), 0.1)
    return [trainer.step(batch) for batch in batches]
