import os
import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
np.random.seed(seed)
torch.manual_seed(seed)


def recordings(per_gesture, protos):
    xs, ys = [], []
    for g, p in enumerate(protos):
        xs.append(p + 1.0 * np.random.randn(per_gesture, *p.shape))
        ys.append(np.full(per_gesture, g))
    return torch.tensor(np.concatenate(xs), dtype=torch.float32), torch.tensor(np.concatenate(ys))


protos = np.random.randn(10, 18)
X, Y = recordings(300, protos)
X_test, Y_test = recordings(60, protos)

clf = nn.Sequential(nn.Linear(18, 40), nn.ReLU(), nn.Linear(40, 10))
optimizer = torch.optim.SGD(clf.parameters(), lr=0.04, momentum=0.9)
ce = nn.CrossEntropyLoss()
batch_size = 20

for epoch in range(8):
    clf.train()
    epoch_loss = 0.0
    for start in range(0, len(X), batch_size):
        xb = X[start : start + batch_size]
        yb = Y[start : start + batch_size]
        loss = ce(clf(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    clf.eval()
    with torch.no_grad():
        acc = (clf(X_test).argmax(1) == Y_test).float().mean().item()
    print("epoch", epoch, "train loss %.3f" % (epoch_loss / (len(X) / batch_size)), "test acc %.3f" % acc)
