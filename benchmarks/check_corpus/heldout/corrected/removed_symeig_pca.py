import torch


def principal_axes(x, k):
    """Largest k directions of the covariance of x."""
    centred = x - x.mean(0)
    cov = centred.T @ centred / (len(x) - 1)
    values, vectors = torch.linalg.eigh(cov)
    return vectors[:, -k:], values[-k:]


def whiten(train_x, test_x, k=16):
    axes, variances = principal_axes(train_x, k)
    mean = train_x.mean(0)
    scale = variances.clamp(min=1e-8).rsqrt()
    return (train_x - mean) @ axes * scale, (test_x - mean) @ axes * scale
