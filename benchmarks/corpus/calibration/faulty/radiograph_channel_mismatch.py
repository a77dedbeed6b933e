import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def films(n):
    y = torch.randint(0, 2, (n,))
    img = 0.5 * torch.randn(n, 1, 12, 12)
    img[:, :, 3:8, 3:8] += 0.7 * y.view(-1, 1, 1, 1)
    return img, y


def make_net():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 36, 2),
    )


torch.manual_seed(int(os.environ.get("SEED", "0")))
loader = DataLoader(TensorDataset(*films(400)), batch_size=20, shuffle=True)
xv, yv = films(200)
net = make_net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(5):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        loss = ce(net(x), y)
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss %.3f" % loss.item())
net.eval()
with torch.no_grad():
    print("val acc %.3f" % (net(xv).argmax(1) == yv).float().mean().item())
