from torch import nn


class RentalNet(nn.Module):
    def __init__(self, n_in, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(),
                                 nn.Linear(width, width), nn.ReLU(),
                                 nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)
