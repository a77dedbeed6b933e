import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, n_in, n_out, rate=0.5):
        super().__init__()
        self.rate = rate
        self.fc = nn.Linear(n_in, n_out)
        self.drop = nn.Dropout(rate)

    def forward(self, h):
        return self.fc(self.drop(h))


head = Head(32, 4)
head.eval()
with torch.no_grad():
    print(head(torch.ones(1, 32)))
