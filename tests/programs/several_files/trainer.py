"""The training loop, with callbacks."""

import hashlib

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PrintLoss:
    def on_epoch_end(self, epoch, logs):
        print(epoch, {key: repr(value) for key, value in logs.items()})


class Trainer:
    def __init__(self, model, config, callbacks=(PrintLoss(),)):
        torch.manual_seed(config.seed)
        self.model, self.config, self.callbacks = model, config, callbacks
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.2)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=config.lr)
        self.criterion = nn.MSELoss()
        x = torch.randn(80, config.features)
        dataset = TensorDataset(x, x.sum(1))
        self.train_data, self.test_data = torch.utils.data.random_split(dataset, [64, 16])

    def epoch(self, loader, training):
        self.model.train(training)
        total = 0.0
        with torch.set_grad_enabled(training):
            for x, y in loader:
                loss = self.criterion(self.model(x), y)
                if training:
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                total += loss.item() * len(x)
        return total / len(loader.dataset)

    def run(self):
        for epoch in range(self.config.epochs):
            logs = {
                "train": self.epoch(DataLoader(self.train_data, self.config.batch_size, shuffle=True), True),
                "test": self.epoch(DataLoader(self.test_data, self.config.batch_size), False),
            }
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, logs)
        digest = hashlib.sha256(torch.get_rng_state().numpy().tobytes())
        for parameter in self.model.parameters():
            digest.update(parameter.detach().numpy().tobytes())
        print("sha256", digest.hexdigest())
        return 0
