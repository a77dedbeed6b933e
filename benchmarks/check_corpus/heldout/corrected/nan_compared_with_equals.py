import numpy as np
import torch


def load(path):
    table = np.genfromtxt(path, delimiter=",")
    keep = ~np.isnan(table).any(axis=1)
    table = table[keep]
    return torch.tensor(table[:, :-1]).float(), torch.tensor(table[:, -1]).long()
