import torch


def load(n=2000, seed=7):
    g = torch.Generator().manual_seed(seed)
    centres = torch.randn(6, 16, generator=g) * 1.2
    y = torch.randint(0, 6, (n,), generator=g)
    x = centres[y] + torch.randn(n, 16, generator=g)
    return (x[: n * 3 // 4], y[: n * 3 // 4]), (x[n * 3 // 4 :], y[n * 3 // 4 :])
