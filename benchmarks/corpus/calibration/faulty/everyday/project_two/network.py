import torch.nn as nn

ACT = {"relu": nn.ReLU(), "sigmoid": nn.Sigmoid(), "none": nn.Identity()}


class ChurnNet(nn.Module):
    def __init__(self, sizes=(5, 32, 16), out_act="sigmoid"):
        super().__init__()
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.act = nn.ReLU()
        self.last = nn.Linear(sizes[-1], 1)
        self.out_act = ACT[out_act]

    def forward(self, x):
        for layer in self.hidden:
            x = self.act(layer(x))
        return self.out_act(self.last(x))
