import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, d_in=40, d=64, d_out=24):
        super().__init__()
        self.fc1 = nn.Linear(d_in, d)
        self.fc2 = nn.Linear(d, d)
        self.fc3 = nn.Linear(d, d_out)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return torch.relu(self.fc3(x))


class Pretext(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Encoder()
        self.predict = nn.Linear(24, 6)

    def forward(self, x):
        return self.predict(self.backbone(x))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.encoder(x))
