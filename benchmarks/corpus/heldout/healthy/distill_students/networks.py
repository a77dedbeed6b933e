import torch.nn as nn


def mlp(sizes, act=nn.ReLU):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(act())
    return nn.Sequential(*layers)


def teacher(n_in, n_out):
    return mlp([n_in, 128, 128, n_out])


def student(n_in, n_out):
    return mlp([n_in, 40, n_out])
