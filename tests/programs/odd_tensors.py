"""Complex, double, empty, zero-dimensional and boolean tensors in one model; integer and no outputs."""

import torch
from common import finish, seed_everything
from torch import nn


class Nothing(nn.Module):
    def forward(self, x):
        return None


class Count(nn.Module):
    def forward(self, x):
        return x.shape[0], "a string", {"nested": [torch.arange(3), (x > 0)]}


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.complex = nn.Parameter(torch.randn(4, 4, dtype=torch.complex64))
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.empty = nn.Parameter(torch.zeros(0, 3))
        self.precise = nn.Linear(4, 4).double()
        self.register_buffer("mask", torch.tensor([True, False, True, True]))
        self.register_buffer("nothing", None)
        self.register_parameter("missing", None)
        self.blank, self.count = Nothing(), Count()

    def forward(self, x):
        self.blank(x)
        size, _, nested = self.count(x)
        x = torch.fft.ifft(torch.fft.fft(x) @ self.complex).real * self.scale * self.mask
        x = self.precise(x.double()).float()
        return x.sum(1) / size + self.empty.sum() + nested["nested"][1].float().mean()


seed_everything(59)
model = Odd()
x = torch.randn(12, 4)
y = torch.randn(12)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    optimizer.zero_grad()
    loss = nn.functional.huber_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
finish(model)
