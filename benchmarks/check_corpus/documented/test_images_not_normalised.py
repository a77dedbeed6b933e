from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision import transforms as T

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
train_tf = T.Compose([T.RandomResizedCrop(224), T.ToTensor(), T.Normalize(MEAN, STD)])
test_tf = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor()])
train_loader = DataLoader(datasets.ImageFolder("train", train_tf), batch_size=64, shuffle=True)
test_loader = DataLoader(datasets.ImageFolder("test", test_tf), batch_size=64)
