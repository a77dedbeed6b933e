import torch.nn.functional as F
from torch import nn


class GlyphNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.c1 = nn.Conv2d(1, 12, 5)
        self.c2 = nn.Conv2d(12, 24, 3)
        self.fc = nn.Linear(24 * 4, n_classes)

    def forward(self, img):
        h = F.relu(self.c1(img))
        h = F.relu(self.c2(h))
        h = F.adaptive_max_pool2d(h, 2).flatten(1)
        return F.softmax(self.fc(h), dim=-1)
