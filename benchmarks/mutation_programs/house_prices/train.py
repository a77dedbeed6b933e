"""Regression on a made-up table of houses: area, age, rooms, distance, and a price with noise."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split


def houses(count):
    area = torch.rand(count) * 150 + 30
    age = torch.rand(count) * 80
    rooms = (area / 28 + torch.randn(count)).round().clamp(1, 8)
    distance = torch.rand(count) * 20
    price = 2.2 * area - 0.8 * age + 9 * rooms - 60 * torch.tanh((distance - 8) / 4) + 8 * torch.randn(count)
    table = torch.stack([area, age, rooms, distance], dim=1)
    return table, price


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()

    torch.manual_seed(7)
    table, price = houses(800)
    table = (table - table.mean(0)) / table.std(0)
    price = (price - price.mean()) / price.std()
    dataset = TensorDataset(table, price.unsqueeze(1))
    train_set, test_set = random_split(dataset, [600, 200])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=200)

    model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.5)
    for epoch in range(args.epochs):
        model.train()
        for features, target in train_loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(features), target)
            loss.backward()
            optimizer.step()
        scheduler.step()

        model.eval()
        total = 0.0
        with torch.no_grad():
            for features, target in test_loader:
                total += F.mse_loss(model(features), target, reduction="sum").item()
        print(f"epoch {epoch} test mse {total / len(test_set):.4f}")


if __name__ == "__main__":
    main()
