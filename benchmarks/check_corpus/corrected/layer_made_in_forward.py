import torch
import torch.nn as nn


class Audio(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(1, channels, 9, stride=4)
        self.channels = channels
        self.out = nn.Linear(channels, 5)

    def forward(self, wave):
        h = torch.relu(self.conv(wave)).mean(-1)
        return self.out(h)


model = Audio(24)
opt = torch.optim.Adam(model.parameters())
wave, y = torch.randn(64, 1, 400), torch.randint(0, 5, (64,))
opt.zero_grad()
nn.functional.cross_entropy(model(wave), y).backward()
opt.step()
