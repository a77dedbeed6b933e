import numpy as np
import torch
from torch import nn

images = np.random.rand(256, 32, 32, 3).astype(np.float32)
labels = torch.randint(0, 4, (256,))
x = torch.from_numpy(images)
net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(16, 4),
)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(5):
    for idx in torch.randperm(256).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[idx]), labels[idx])
        loss.backward()
        opt.step()
