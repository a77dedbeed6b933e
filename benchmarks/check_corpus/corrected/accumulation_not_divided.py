import torch
import torch.nn as nn

ACCUMULATION_STEPS = 8
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()


def train(loader):
    optimizer.zero_grad()
    for step, (x, y) in enumerate(loader, 1):
        loss = criterion(model(x), y) / ACCUMULATION_STEPS
        loss.backward()
        if step % ACCUMULATION_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()
