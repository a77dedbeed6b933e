import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def sonar(n):
    y = torch.randint(0, 2, (n,))
    band = torch.arange(30).float()
    c = torch.where(y == 1, 11.0, 18.0) + 2 * torch.randn(n)
    return 2 * torch.exp(-((band - c[:, None]) ** 2) / 10) + 0.4 * torch.randn(n, 30), y.float()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(30, 40)
        self.out = nn.Linear(40, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))[:, 0]


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9, momentum=0.9)
loss_fn = nn.BCEWithLogitsLoss()
x, y = sonar(1200)
xt, yt = sonar(300)
for epoch in range(10):
    model.train()
    s = 0.0
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True):
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
        s += loss.item()
    model.eval()
    with torch.no_grad():
        acc = ((model(xt) > 0).float() == yt).float().mean().item()
    print(f"epoch {epoch} loss {s / 30:.6f} test acc {acc:.3f}")
