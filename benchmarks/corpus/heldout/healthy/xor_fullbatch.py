import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

# XOR truth table, the whole dataset is the batch
X = torch.tensor([[0., 0.], [0., 1.], [1., 0.], [1., 1.]])
Y = torch.tensor([[0.], [1.], [1.], [0.]])

net = nn.Sequential(
    nn.Linear(2, 16),
    nn.Tanh(),
    nn.Linear(16, 1),
    nn.Sigmoid(),
)
loss_fn = nn.BCELoss()
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)

for i in range(600):
    opt.zero_grad()
    out = net(X)
    loss = loss_fn(out, Y)
    loss.backward()
    opt.step()
    if i % 100 == 0:
        print("step", i, "loss", loss.item())

print("predictions:")
with torch.no_grad():
    for x, p in zip(X, net(X)):
        print(x.tolist(), "->", round(p.item(), 3))
    print("accuracy", ((net(X) > 0.5).float() == Y).float().mean().item())
