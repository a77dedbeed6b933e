import torch
from torch import nn


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1),
        nn.BatchNorm2d(cout),
        nn.ReLU(),
        nn.Conv2d(cout, cout, 3, padding=1),
        nn.BatchNorm2d(cout),
        nn.ReLU(),
    )


class MiniUNet(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.enc1 = double_conv(1, ch)
        self.enc2 = double_conv(ch, 2 * ch)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.dec1 = double_conv(3 * ch, ch)
        self.head = nn.Conv2d(ch, 1, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(self.pool(a))
        return self.head(self.dec1(torch.cat([a, self.up(b)], dim=1)))
