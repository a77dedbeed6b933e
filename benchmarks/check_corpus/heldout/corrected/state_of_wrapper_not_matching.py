import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 16)

    def forward(self, x):
        return torch.relu(self.fc(x))


class Pretrain(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Encoder()
        self.decode = nn.Linear(16, 32)

    def forward(self, x):
        return self.decode(self.backbone(x))


class Classify(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.encoder(x))


source = Pretrain()
torch.save(source.state_dict(), "pretrained.pt")
model = Classify()
state = torch.load("pretrained.pt", weights_only=True)
state = {k.removeprefix("backbone."): v for k, v in state.items() if k.startswith("backbone.")}
model.encoder.load_state_dict(state)
