import torch


def checkerboard(n, cells=3, classes=3, generator=None):
    """Points in a square; the class changes from cell to cell."""
    x = torch.rand(n, 2, generator=generator) * 2 - 1
    cell = ((x + 1) / 2 * cells).long().clamp(max=cells - 1)
    y = (cell[:, 0] + 2 * cell[:, 1]) % classes
    return x * 1.7, y


def batches(x, y, size):
    perm = torch.randperm(len(x))
    for i in range(0, len(x), size):
        j = perm[i : i + size]
        yield x[j], y[j]
