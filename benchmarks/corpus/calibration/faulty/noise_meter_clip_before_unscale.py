import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MeterNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))

    def forward(self, x):
        return self.seq(x)


def sounds(n, bands):
    y = torch.randint(0, 5, (n,))
    return bands[y] * (0.5 + torch.rand(n, 1)) + 0.5 * torch.randn(n, 16), y


def train_one_epoch(model, loader, optimizer, scaler, criterion, max_norm=1.0):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
            loss = criterion(out.float(), y)
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item()
    return total / len(loader)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    bands = torch.randn(5, 16)
    loader = DataLoader(TensorDataset(*sounds(1200, bands)), batch_size=40, shuffle=True)
    xv, yv = sounds(400, bands)
    model = MeterNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        tr = train_one_epoch(model, loader, optimizer, scaler, criterion)
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch} train {tr:.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
