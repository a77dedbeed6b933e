import torch
from torch import nn

TASKS = {"age": 1, "height": 1, "sex": 2}


class MultiTask(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(30, width), nn.ReLU())
        self.heads = nn.ModuleDict({task: nn.Linear(width, n) for task, n in TASKS.items()})

    def forward(self, x):
        h = self.trunk(x)
        return {task: self.heads[task](h) for task in TASKS}


net = MultiTask()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
print(sum(p.numel() for p in net.parameters()))
