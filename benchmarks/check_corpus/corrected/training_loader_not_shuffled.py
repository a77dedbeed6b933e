import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

tf = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
train_set = datasets.ImageFolder("pets/train", transform=tf)
val_set = datasets.ImageFolder("pets/val", transform=tf)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=64)
net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64 * 64, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(10):
    net.train()
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
