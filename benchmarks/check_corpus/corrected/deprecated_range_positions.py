import torch
import torch.nn as nn


class SinusoidPositions(nn.Module):
    def __init__(self, dim, max_len=512):
        super().__init__()
        position = torch.arange(0.0, max_len).unsqueeze(1)
        rate = torch.exp(torch.arange(0, dim, 2) * (-4.0 / dim))
        table = torch.zeros(max_len, dim)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.shape[1]]
