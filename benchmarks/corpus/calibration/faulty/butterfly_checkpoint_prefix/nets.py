import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.act = nn.ReLU()

    def forward(self, x):
        x = self.pool(self.act(self.conv1(x)))
        x = self.pool(self.act(self.conv2(x)))
        return x.mean(dim=(2, 3))


class Pretrainer(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.encoder = Backbone()
        self.head = nn.Linear(8, n_out)

    def forward(self, x):
        return self.head(self.encoder(x))


class Finetuner(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.backbone = Backbone()
        self.classifier = nn.Linear(8, n_out)

    def forward(self, x):
        return self.classifier(self.backbone(x))
