import math

import torch


def wings(n, angles):
    """Striped wings, the class is the direction of the stripes."""
    y = torch.randint(0, len(angles), (n,))
    theta = torch.tensor(angles)[y] * math.pi / 180
    yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    arg = theta.cos().view(-1, 1, 1) * xx + theta.sin().view(-1, 1, 1) * yy
    img = torch.sin(1.5 * arg + 6.28 * torch.rand(n, 1, 1)) + 0.7 * torch.randn(n, 12, 12)
    return img.unsqueeze(1), y
