import os

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(int(os.environ.get("SEED", "0")))
torch.manual_seed(int(os.environ.get("SEED", "0")))

VOCABULARY, TOPICS = 600, 12
topic_words = rng.dirichlet(np.full(VOCABULARY, 0.05), size=TOPICS)
common = rng.dirichlet(np.full(VOCABULARY, 0.5))


def wires(n):
    """Bags of words: which words occur in a report of about forty words."""
    y = rng.integers(0, TOPICS, n)
    x = np.zeros((n, VOCABULARY), dtype=np.float32)
    for row, topic in enumerate(y):
        words = rng.choice(VOCABULARY, size=40, p=0.35 * topic_words[topic] + 0.65 * common)
        x[row, words] = 1.0
    return torch.from_numpy(x), torch.from_numpy(y)


x_train, y_train = wires(2000)
x_test, y_test = wires(500)

model = nn.Sequential(
    nn.Linear(VOCABULARY, 64),
    nn.ReLU(),
    nn.Linear(64, TOPICS),
    nn.Softmax(dim=1),
)
loss_fn = nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
batch = 64

for epoch in range(10):
    order = torch.randperm(len(x_train))
    total = 0.0
    for start in range(0, len(order), batch):
        pick = order[start : start + batch]
        prediction = model(x_train[pick])
        loss = loss_fn(prediction, nn.functional.one_hot(y_train[pick], TOPICS).float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(pick)
    with torch.no_grad():
        right = (model(x_test).argmax(1) == y_test).float().mean().item()
    print("epoch %d loss %.4f test accuracy %.3f" % (epoch + 1, total / len(order), right))
