import torch
import torch.nn as nn


class Audio(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(1, channels, 9, stride=4)
        self.channels = channels

    def forward(self, wave):
        h = torch.relu(self.conv(wave)).mean(-1)
        out = nn.Linear(self.channels, 5)
        return out(h)


model = Audio(24)
opt = torch.optim.Adam(model.parameters())
wave, y = torch.randn(64, 1, 400), torch.randint(0, 5, (64,))
opt.zero_grad()
nn.functional.cross_entropy(model(wave), y).backward()
opt.step()
