import numpy as np
import torch
from sklearn.preprocessing import MinMaxScaler
from torch import nn


def prepare(train_rows: np.ndarray, test_rows: np.ndarray):
    scaler = MinMaxScaler()
    train = scaler.fit_transform(train_rows)
    test = scaler.transform(test_rows)
    return torch.tensor(train).float(), torch.tensor(test).float()


def main(train_rows, test_rows, labels):
    x, x_test = prepare(train_rows, test_rows)
    net = nn.Linear(x.shape[1], 3)
    opt = torch.optim.LBFGS(net.parameters())

    def closure():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), labels)
        loss.backward()
        return loss

    opt.step(closure)
    return net(x_test).argmax(1)
