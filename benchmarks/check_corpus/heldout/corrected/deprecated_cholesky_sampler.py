import torch


def correlated_noise(cov, n):
    factor = torch.linalg.cholesky(cov)
    return torch.randn(n, cov.shape[0]) @ factor.T


def augment(x, cov):
    return x + 0.05 * correlated_noise(cov, len(x))


points = torch.randn(400, 3)
cov = torch.cov(points.T) + 1e-4 * torch.eye(3)
print(augment(points, cov).std(0))
