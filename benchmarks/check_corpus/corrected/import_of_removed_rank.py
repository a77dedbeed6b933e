import torch
from torch import nn


def bottleneck_rank(layer: nn.Linear) -> int:
    return int(torch.linalg.matrix_rank(layer.weight.detach()))


def report(model):
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            print(name, tuple(module.weight.shape), bottleneck_rank(module))
