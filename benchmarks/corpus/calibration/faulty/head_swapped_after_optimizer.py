import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
MIX = torch.randn(5, 30)


def batchify(n, task):
    z = torch.randn(n, 5)
    x = torch.tanh(z @ MIX) + 0.1 * torch.randn(n, 30)
    if task == "source":
        return x, (z[:, 0] > 0).long()
    return x, torch.bucketize(z[:, 1] + z[:, 2], torch.tensor([-1.0, -0.3, 0.3, 1.0])) * 2 + (z[:, 3] > 0).long()


class Backbone(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(30, 16), nn.ReLU())
        self.head = nn.Linear(16, n_out)

    def forward(self, x):
        return self.head(self.body(x))


def train(model, opt, loader, epochs, tag):
    for e in range(epochs):
        model.train()
        s = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
            s += loss.item()
        print(f"{tag} epoch {e} loss {s / len(loader):.4f}")


model = Backbone(2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
train(model, optimizer, DataLoader(TensorDataset(*batchify(600, "source")), 50, shuffle=True), 3, "source")
# new task, new head
model.head = nn.Linear(16, 10)
train(model, optimizer, DataLoader(TensorDataset(*batchify(1500, "target")), 50, shuffle=True), 10, "target")
xt, yt = batchify(500, "target")
model.eval()
with torch.no_grad():
    print("target accuracy %.3f" % (model(xt).argmax(1) == yt).float().mean().item())
