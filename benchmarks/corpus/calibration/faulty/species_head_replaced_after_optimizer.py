import os

import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.fc1 = nn.Linear(20, 48)
        self.fc2 = nn.Linear(48, 8)
        self.fc = nn.Linear(8, n_out)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc(x)


def task(n, protos):
    y = torch.randint(0, len(protos), (n,))
    return protos[y] + 1.0 * torch.randn(n, 20), y


def fit(model, optimizer, x, y, epochs):
    model.train()
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(40):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        print(f"  epoch {epoch} loss {loss.item():.3f}")


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    protos = torch.randn(16, 20)
    coarse_x, coarse_y = task(800, protos[:4])
    fine_x, fine_y = task(1200, protos[4:])
    test_x, test_y = task(500, protos[4:])

    model = Backbone(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    print("pretraining on families")
    fit(model, optimizer, coarse_x, coarse_y, 4)
    model.fc = nn.Linear(8, 12)
    print("fine-tuning on species")
    fit(model, optimizer, fine_x, fine_y, 10)

    model.eval()
    with torch.no_grad():
        acc = (model(test_x).argmax(1) == test_y).float().mean().item()
    print(f"species test acc {acc:.3f}")


if __name__ == "__main__":
    main()
