import os

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

SEED = int(os.environ.get("SEED", 0))
HPARAMS = {
    "max_lr": 4.0,
    "epochs": 10,
    "batch_size": 64,
    "weight_decay": 1e-4,
}


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.ReLU(inplace=True))


class Net(nn.Module):
    def __init__(self, channels=(1, 16, 32)):
        super().__init__()
        self.blocks = nn.ModuleList([block(a, b) for a, b in zip(channels, channels[1:])])
        self.fc = nn.Linear(channels[-1], 10)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.fc(x.mean((2, 3)))


torch.manual_seed(SEED)
d = load_digits()
X = (torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) - 4.88) / 6.0
y = torch.tensor(d.target)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=HPARAMS["weight_decay"])
steps = HPARAMS["epochs"] * (1400 // HPARAMS["batch_size"] + 1)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=HPARAMS["max_lr"], total_steps=steps)
for epoch in range(HPARAMS["epochs"]):
    for idx in torch.randperm(1400).split(HPARAMS["batch_size"]):
        loss = nn.functional.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
    with torch.no_grad():
        acc = (net(X[1400:]).argmax(1) == y[1400:]).float().mean().item()
    print(f"epoch {epoch}: lr {sched.get_last_lr()[0]:.4f} loss {loss.item():.4f} val_acc {acc:.4f}")
