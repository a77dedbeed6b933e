import argparse
import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.0001)
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--batch-size", type=int, default=32)
args = parser.parse_args()

torch.manual_seed(int(os.environ.get("SEED", "0")))

# windows of a vibration sensor: which of four machine states?
state = torch.randint(0, 4, (800,))
time = torch.linspace(0, 1, 40)
speed = torch.tensor([3.0, 5.0, 8.0, 12.0])[state]
phase = torch.rand(800) * 6.28
signal = torch.sin(6.28 * speed[:, None] * time + phase[:, None]) + 0.2 * torch.randn(800, 40)
loader = DataLoader(TensorDataset(signal[:640].unsqueeze(1), state[:640]), batch_size=args.batch_size, shuffle=True)

model = nn.Sequential(
    nn.Conv1d(1, 16, 7, stride=2), nn.ReLU(),
    nn.Conv1d(16, 16, 5, stride=2), nn.ReLU(),
    nn.Flatten(), nn.Linear(16 * 7, 32), nn.ReLU(), nn.Linear(32, 4),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=args.lr)

for epoch in range(args.epochs):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()

with torch.no_grad():
    scores = model(signal[640:].unsqueeze(1))
    print(f"test loss {criterion(scores, state[640:]).item():.4f} accuracy {(scores.argmax(1) == state[640:]).float().mean().item():.3f}")
