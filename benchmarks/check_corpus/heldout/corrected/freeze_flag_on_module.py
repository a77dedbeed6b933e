import torch
from torch import nn
from torchvision import models

net = models.efficientnet_b0(weights="DEFAULT")
net.features.requires_grad_(False)
net.classifier[1] = nn.Linear(1280, 3)
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)
for images, labels in [(torch.rand(2, 3, 224, 224), torch.tensor([0, 2]))]:
    opt.zero_grad()
    nn.functional.cross_entropy(net(images), labels).backward()
    opt.step()
