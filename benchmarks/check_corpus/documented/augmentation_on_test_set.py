import torch
from torchvision import datasets, transforms

augment = transforms.Compose([
    transforms.RandomHorizontalFlip(),
    transforms.RandomRotation(15),
    transforms.ToTensor(),
])
plain = transforms.ToTensor()
train_set = datasets.CIFAR100("data", train=True, transform=augment)
test_set = datasets.CIFAR100("data", train=False, transform=augment)
train_loader = torch.utils.data.DataLoader(train_set, batch_size=128, shuffle=True)
test_loader = torch.utils.data.DataLoader(test_set, batch_size=256)
