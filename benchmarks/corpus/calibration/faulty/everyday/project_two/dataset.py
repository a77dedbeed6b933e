import numpy as np
import torch
from torch.utils.data import Dataset


class Churn(Dataset):
    """Customers: age, income, months, calls, balance."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        age, income = rng.integers(18, 80, n), rng.normal(42000, 15000, n)
        months, calls = rng.integers(1, 120, n), rng.poisson(3, n)
        balance = rng.normal(800, 600, n)
        score = -0.03 * (months - 60) + 0.7 * (calls - 3) - (income - 42000) / 20000 + 0.4 * rng.normal(size=n)
        self.x = np.stack([age, income, months, calls, balance], 1).astype(np.float32)
        self.y = (score > 0).astype(np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), torch.tensor([self.y[i]])
