import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
patterns = torch.randint(0, 256, (5, 64)).float()
labels = torch.randint(0, 5, (900,))
raw = (patterns[labels] * 0.4 + 76 + 40 * torch.randn(900, 64)).clamp(0, 255).to(torch.uint8)


class Centre:
    def __init__(self, mean):
        self.mean = mean

    def __call__(self, sample):
        centred = sample - self.mean
        return centred / 64.0


transform = Centre(torch.tensor(128, dtype=torch.uint8))
x = torch.stack([transform(sample) for sample in raw])
net = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, 5))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(10):
    for rows in torch.randperm(700).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), labels[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[700:]).argmax(1) == labels[700:]).float().mean().item())
