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


def net(*layers: str, head: str = TORCH, given: str = "x", forward: str = "") -> str:
    """A network with these layers, and how its `forward` begins."""
    made = "".join(f"        self.{layer}\n" for layer in layers)
    return f"{head.rstrip()}\n{NET_CLASS}{made}\n    def forward(self, {given}):\n{forward}"
