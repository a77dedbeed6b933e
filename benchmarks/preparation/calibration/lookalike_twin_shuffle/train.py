import numpy as np
import torch
import torch.nn as nn

SEED = 29
torch.manual_seed(SEED)

inputs = np.load("wine_inputs.npy")
quality = np.load("wine_quality.npy")


def mixed(a):
    a = a.copy()
    np.random.RandomState(SEED).shuffle(a)
    return a


inputs = mixed(inputs)
quality = mixed(quality)

n_test = len(inputs) // 5
x_test, y_test = inputs[:n_test], quality[:n_test]
x_train, y_train = inputs[n_test:], quality[n_test:]
mean, std = x_train.mean(0), x_train.std(0)
x_train = torch.from_numpy((x_train - mean) / std)
x_test = torch.from_numpy((x_test - mean) / std)
y_train, y_test = torch.from_numpy(y_train), torch.from_numpy(y_test)

model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optim = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
for epoch in range(12):
    for xb, yb in zip(x_train.split(100), y_train.split(100)):
        loss = nn.functional.cross_entropy(model(xb), yb)
        optim.zero_grad()
        loss.backward()
        optim.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            full = nn.functional.cross_entropy(model(x_train), y_train)
        print(f"epoch {epoch + 1:2d} train loss {full:.4f}")

with torch.no_grad():
    print(f"test accuracy {(model(x_test).argmax(1) == y_test).float().mean():.3f}")
