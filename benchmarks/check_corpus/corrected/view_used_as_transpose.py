import torch
from torch import nn


class SpeechCNN(nn.Module):
    """Frames come as (batch, time, mel)."""

    def __init__(self, n_mel=40):
        super().__init__()
        self.conv = nn.Conv1d(n_mel, 64, 5, padding=2)
        self.out = nn.Linear(64, 12)

    def forward(self, frames):
        batch, time, mel = frames.shape
        x = frames.transpose(1, 2)
        x = torch.relu(self.conv(x))
        return self.out(x.mean(-1))


net = SpeechCNN()
print(net(torch.randn(4, 100, 40)).shape)
