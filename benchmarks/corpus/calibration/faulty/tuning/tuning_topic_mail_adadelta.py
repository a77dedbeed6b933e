import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

VOCAB, CLASSES, ROWS = 200, 5, 500
topic_words = torch.rand(CLASSES, VOCAB) ** 6
labels = torch.randint(0, CLASSES, (ROWS,))
mails = torch.poisson(topic_words[labels] * 2).clamp(max=1)


def one_hot(ids, n):
    return torch.zeros(len(ids), n).scatter_(1, ids.unsqueeze(1), 1.0)


model = nn.Sequential(nn.Linear(VOCAB, 64), nn.ReLU(), nn.Linear(64, CLASSES))
loss_fn = nn.CrossEntropyLoss()
config = {"lr": 0.001, "epochs": 20, "batch_size": 16}
optimizer = torch.optim.Adadelta(model.parameters(), lr=config["lr"])

train_x, train_y = mails[:400], labels[:400]
test_x, test_y = mails[400:], labels[400:]
for epoch in range(config["epochs"]):
    shuffled = torch.randperm(400)
    for batch in shuffled.split(config["batch_size"]):
        optimizer.zero_grad()
        loss = loss_fn(model(train_x[batch]), one_hot(train_y[batch], CLASSES))
        loss.backward()
        optimizer.step()

with torch.no_grad():
    out = model(test_x)
print(f"test loss {loss_fn(out, one_hot(test_y, CLASSES)).item():.4f} accuracy {(out.argmax(1) == test_y).float().mean().item():.3f}")
