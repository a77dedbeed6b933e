"""Pretrain an encoder on plentiful factor regression, then fit a small head on few labels."""
import io
import math
import os

import torch
import torch.nn.functional as F
from networks import Classifier, Pretext

torch.manual_seed(int(os.environ.get("SEED", "0")))
MIX = torch.randn(6, 40)


def sample(n):
    z = torch.rand(n, 6) * 2 - 1
    x = torch.sin(1.3 * z @ MIX) + 0.05 * torch.randn(n, 40)
    angle = torch.atan2(z[:, 0] * 2, z[:, 1] * 2) + math.pi
    y = (angle / (2 * math.pi) * 3).long().clamp(max=2)
    return x, z, y


def pretrain(steps=350):
    model = Pretext()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for i in range(steps):
        x, z, _ = sample(128)
        loss = F.mse_loss(model(x), z)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 100 == 0:
            print("pretrain", i, round(loss.item(), 4))
    buf = io.BytesIO()
    torch.save(model.state_dict(), buf)
    buf.seek(0)
    return buf


def finetune(ckpt):
    model = Classifier()
    model.load_state_dict(torch.load(ckpt), strict=False)
    for p in model.encoder.parameters():
        p.requires_grad_(False)
    x, _, y = sample(300)
    opt = torch.optim.Adam(model.head.parameters(), lr=1e-2)
    for epoch in range(40):
        for idx in torch.randperm(len(x)).split(50):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
        if epoch % 10 == 0:
            print("finetune", epoch, round(loss.item(), 4))
    return model.eval()


clf = finetune(pretrain())
xt, _, yt = sample(1000)
with torch.no_grad():
    print("test accuracy %.3f" % (clf(xt).argmax(1) == yt).float().mean().item())
