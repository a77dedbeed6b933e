import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class DeepEncoder(nn.Module):
    def __init__(self, width=256, depth=12):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width)) for _ in range(depth)
        )
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


def run(batches):
    model = DeepEncoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
