"""How many examples of rules begin."""

TORCH = """\
import torch
from torch import nn
"""
TORCH_F = f"""\
{TORCH}import torch.nn.functional as F
"""
NET_CLASS = """\

class Net(nn.Module):
    def __init__(self):
        super().__init__()
"""
