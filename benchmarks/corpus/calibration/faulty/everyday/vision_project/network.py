import torch.nn as nn


def conv(i, o):
    return [nn.Conv2d(i, o, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]


class VGGish(nn.Module):
    def __init__(self, widths=(3, 16, 32), classes=3, image_size=16):
        super().__init__()
        blocks = []
        for i, o in zip(widths, widths[1:]):
            blocks += conv(i, o)
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Linear(widths[-1] * (image_size // 2 ** (len(widths) - 1)) ** 2, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))
