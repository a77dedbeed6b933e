import torch
from torch import nn
from torchvision.models import mobilenet_v3_small

model = mobilenet_v3_small(weights="DEFAULT")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
model.classifier[3] = nn.Linear(1024, 12)
criterion = nn.CrossEntropyLoss()


def train(loader):
    model.train()
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
