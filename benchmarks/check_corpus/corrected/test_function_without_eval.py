import torch
from torch import nn
from torchvision import models


def train(model, loader, optimizer, device):
    model.train()
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()


@torch.no_grad()
def test(model, loader, device):
    model.eval()
    hits = total = 0
    for images, labels in loader:
        hits += (model(images.to(device)).argmax(1).cpu() == labels).sum().item()
        total += len(labels)
    return hits / total


def main(train_loader, test_loader, device):
    model = models.vgg16_bn(num_classes=20).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(30):
        train(model, train_loader, optimizer, device)
        print(epoch, test(model, test_loader, device))
