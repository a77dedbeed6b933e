import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Faces(Dataset):
    def __init__(self, path):
        archive = np.load(path)
        self.images = archive["images"].astype(np.uint8)
        self.labels = archive["labels"]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        x = torch.from_numpy(self.images[i]).float().unsqueeze(0)
        return x, int(self.labels[i])


net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Tanh(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for x, y in DataLoader(Faces("faces.npz"), batch_size=32, shuffle=True):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
