"""Predict from the evening sample whether a beach has to close next day."""
import numpy as np
import torch

torch.manual_seed(1)


def read(path):
    a = np.genfromtxt(path, delimiter="\t", skip_header=1)
    a = np.nan_to_num(a)
    X, y = a[:, :-1], a[:, -1]
    X[:, 0] = np.log10(X[:, 0] + 1)      # counts span several powers of ten
    X[:, 1] = np.log10(X[:, 1] + 1)
    return X.astype(np.float32), y.astype(np.int64)


Xtr, ytr = read("season_2021.tsv")
Xte, yte = read("season_2022.tsv")
m, s = Xtr.mean(axis=0), Xtr.std(axis=0)
Xtr, Xte = (Xtr - m) / s, (Xte - m) / s
print("closures:", ytr.mean().round(3), yte.mean().round(3))

# plain softmax regression with one hidden layer, written out
g = torch.Generator().manual_seed(1)
W1 = (torch.randn(4, 20, generator=g) * 0.5).requires_grad_()
b1 = torch.zeros(20, requires_grad=True)
W2 = (torch.randn(20, 2, generator=g) * 0.3).requires_grad_()
b2 = torch.zeros(2, requires_grad=True)
params = [W1, b1, W2, b2]


def forward(x):
    return torch.tanh(x @ W1 + b1) @ W2 + b2


X, y = torch.tensor(Xtr), torch.tensor(ytr)
opt = torch.optim.SGD(params, lr=0.2, momentum=0.9)
for epoch in range(20):
    for i in torch.randperm(len(X), generator=g).split(110):
        loss = torch.nn.functional.cross_entropy(forward(X[i]), y[i])
        for p in params:
            p.grad = None
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")

with torch.no_grad():
    pred = forward(torch.tensor(Xte)).argmax(1).numpy()
tp = int(((pred == 1) & (yte == 1)).sum())
print(f"2022: accuracy {np.mean(pred == yte):.3f}, closures found {tp} of {int(yte.sum())}")
