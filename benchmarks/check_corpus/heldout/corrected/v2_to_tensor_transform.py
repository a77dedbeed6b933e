import torch
from torchvision import datasets
from torchvision.transforms import v2

train_transform = v2.Compose([
    v2.RandomHorizontalFlip(),
    v2.ToImage(),
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize(mean=[0.49, 0.48, 0.45], std=[0.25, 0.24, 0.26]),
])

train_set = datasets.CIFAR10("data", train=True, download=True, transform=train_transform)
loader = torch.utils.data.DataLoader(train_set, batch_size=128, shuffle=True)
images, labels = next(iter(loader))
print(images.mean(), images.std())
