import torch
from torch import nn
from torchvision.models import resnet34

model = resnet34(weights="DEFAULT")
for p in model.parameters():
    p.requires_grad = False
model.fc = nn.Linear(512, 8)
optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)


def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
