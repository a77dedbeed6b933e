import argparse

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--views", type=int, default=6, help="random views per picture that are averaged at test time")
parser.add_argument("--epochs", type=int, default=14)
args = parser.parse_args()

torch.manual_seed(44)
gen = torch.Generator().manual_seed(44)

data = np.load("insects.npz")
names, label = np.unique(data["name"], return_inverse=True)
images = torch.from_numpy(data["image"]).float()[:, None] / 100 - 1.5
label = torch.from_numpy(label)
train, test = slice(0, 400), slice(400, None)


def random_view(x):
    """the camera hangs above the trap: any turn and any mirror image is as likely"""
    x = torch.rot90(x, int(torch.randint(4, (1,), generator=gen)), (2, 3))
    if torch.rand(1, generator=gen) < 0.5:
        x = x.flip(3)
    dy, dx = torch.randint(-2, 3, (2,), generator=gen).tolist()
    return x.roll((dy, dx), (2, 3))


net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, len(names)))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(args.epochs):
    net.train()
    for b in torch.randperm(400).split(25):
        loss = nn.functional.cross_entropy(net(random_view(images[b])), label[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 1:
        print(f"epoch {epoch + 1} loss {loss.item():.3f}")

net.eval()
with torch.no_grad():
    plain = net(images[test]).softmax(1)
    averaged = torch.stack([net(random_view(images[test])).softmax(1) for _ in range(args.views)]).mean(0)
for what, p in (("single view", plain), (f"mean of {args.views} views", averaged)):
    print(f"test accuracy, {what}: {(p.argmax(1) == label[test]).float().mean().item():.3f}")
