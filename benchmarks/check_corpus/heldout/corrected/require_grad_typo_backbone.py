import torch
from torch import nn
from torchvision import models

net = models.resnet18(weights=models.ResNet18_Weights.DEFAULT)
for weight in net.parameters():
    weight.requires_grad = False
net.fc = nn.Linear(net.fc.in_features, 5)
optimizer = torch.optim.SGD(net.fc.parameters(), lr=0.01, momentum=0.9)
criterion = nn.CrossEntropyLoss()


def train(loader, epochs=3):
    net.train()
    for epoch in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(net(images), labels)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
