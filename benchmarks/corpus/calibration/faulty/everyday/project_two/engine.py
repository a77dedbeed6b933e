import torch


def train_one_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right = count = 0
    for x, y in loader:
        pred = (model(x) >= 0.5).float()
        right += (pred == y).sum().item()
        count += y.numel()
    return right / count
