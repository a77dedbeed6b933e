import os
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainConfig:
    learning_rate: float = 1e-5
    weight_decay: float = 1e-4
    n_epochs: int = 15
    batch_size: int = 48


class FadeTrainer:
    def __init__(self, config):
        self.config = config
        self.model = nn.Sequential(nn.Linear(5, 80), nn.ReLU(), nn.Linear(80, 80), nn.ReLU(), nn.Linear(80, 1))
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )

    @staticmethod
    def cells(n):
        x = torch.rand(n, 5) * 2 - 1
        fade = torch.exp(1.5 * x[:, 0]) * (1 + 0.5 * x[:, 1]) - 2 * torch.relu(x[:, 2] - 0.3) + torch.sin(4 * x[:, 3])
        return x, ((fade - 1.0) / 1.3).unsqueeze(1)

    def train_epoch(self, loader):
        self.model.train()
        losses = []
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    @torch.no_grad()
    def test(self, x, y):
        self.model.eval()
        return self.criterion(self.model(x), y).item()


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    config = TrainConfig()
    trainer = FadeTrainer(config)
    loader = DataLoader(TensorDataset(*trainer.cells(1500)), batch_size=config.batch_size, shuffle=True)
    xv, yv = trainer.cells(400)
    for epoch in range(config.n_epochs):
        tr = trainer.train_epoch(loader)
        print(f"epoch {epoch}: train {tr:.4f} val mse {trainer.test(xv, yv):.4f}")
