import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

N_CLASSES = 24


def build_model():
    return nn.Sequential(
        nn.Linear(24, 64),
        nn.ReLU(),
        nn.Linear(64, N_CLASSES),
        nn.Softmax(dim=1),
    )


def leaves(n, contours):
    y = torch.randint(0, N_CLASSES, (n,))
    scale = 0.7 + 0.6 * torch.rand(n, 1)
    return contours[y] * scale + 0.7 * torch.randn(n, 24), y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    contours = torch.randn(N_CLASSES, 24)
    train_set = TensorDataset(*leaves(1200, contours))
    test_set = TensorDataset(*leaves(400, contours))
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=200)

    model = build_model()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

    for epoch in range(10):
        model.train()
        running_loss = 0.0
        for inputs, targets in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        model.eval()
        correct = 0
        with torch.no_grad():
            for inputs, targets in test_loader:
                correct += (model(inputs).argmax(1) == targets).sum().item()
        print(f"Epoch {epoch + 1} loss {running_loss / len(train_loader):.4f} test acc {correct / len(test_set):.3f}")


if __name__ == "__main__":
    main()
