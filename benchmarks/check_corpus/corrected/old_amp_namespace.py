import torch
from torch import nn
from torch.amp import GradScaler, autocast

model = nn.Linear(10, 2).cuda()
optimizer = torch.optim.Adam(model.parameters())
scaler = GradScaler("cuda")


def step(x, y):
    optimizer.zero_grad()
    with autocast("cuda"):
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
