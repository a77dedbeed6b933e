import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import ToTensor

train = datasets.FashionMNIST("data", train=True, download=True, transform=ToTensor())
loader = DataLoader(train, batch_size=64, shuffle=True)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for images, labels in loader:
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    opt.step()
