import numpy as np
import torch


def load(path):
    table = np.genfromtxt(path, delimiter=",")
    keep = ~(table == np.nan).any(axis=1)
    table = table[keep]
    return torch.tensor(table[:, :-1]).float(), torch.tensor(table[:, -1]).long()
