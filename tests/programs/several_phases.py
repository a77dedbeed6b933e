"""Several fit phases in one script: a grid of learning rates, then pre-training and fine-tuning."""

import torch
from common import blobs, finish, seed_everything
from torch import nn


def fit(model, x, y, lr, epochs, loss_fn):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        return loss_fn(model(x), y).item()


x, y = blobs(80)
for lr in (1e-3, 1e-2, 1e-1):
    seed_everything(22)
    model = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 3))
    print(lr, repr(fit(model, x, y, lr, 6, nn.CrossEntropyLoss())))

encoder = nn.Sequential(nn.Linear(8, 6), nn.Tanh())
print("pretrain", repr(fit(nn.Sequential(encoder, nn.Linear(6, 8)), x, x, 1e-2, 10, nn.MSELoss())))
classifier = nn.Sequential(encoder, nn.Linear(6, 3))
print("finetune", repr(fit(classifier, x, y, 1e-2, 10, nn.CrossEntropyLoss())))
finish(classifier)
