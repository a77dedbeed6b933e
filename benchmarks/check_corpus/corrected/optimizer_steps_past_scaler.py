import torch
from torch import nn

scaler = torch.amp.GradScaler("cuda")
model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.Adam(model.parameters())


def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
