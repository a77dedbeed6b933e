import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
CLASSES = 8
centres = torch.randn(CLASSES, 3, 30)


def tablets(n):
    """Three kinds of scratches per class, so that no plane parts the classes."""
    y = torch.randint(0, CLASSES, (n,))
    kind = torch.randint(0, 3, (n,))
    return centres[y, kind] + 0.7 * torch.randn(n, 30), y


x_train, y_train = tablets(4000)
x_test, y_test = tablets(800)

model = nn.Sequential(
    nn.Linear(30, 96),
    nn.ReLU(),
    nn.Linear(96, 64),
    nn.ReLU(),
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Linear(32, CLASSES),
)
nn.init.zeros_(model[0].weight)
nn.init.zeros_(model[0].bias)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def evaluate():
    model.eval()
    with torch.no_grad():
        return (model(x_test).argmax(1) == y_test).float().mean().item()


for epoch in range(12):
    model.train()
    for index in torch.randperm(len(x_train)).split(50):
        out = model(x_train[index])
        loss = loss_fn(out, y_train[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}: last loss {loss.item():.4f}, test accuracy {evaluate():.3f}")
