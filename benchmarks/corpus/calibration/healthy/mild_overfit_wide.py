import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def two_class(n):
    y = torch.randint(0, 2, (n,))
    x = torch.randn(n, 12)
    x[:, 0] += 1.6 * (2 * y - 1)
    x[:, 1] += 1.2 * (2 * y - 1) * (x[:, 2] > 0)
    return x, y


train_x, train_y = two_class(500)
val_x, val_y = two_class(1000)
net = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 2))
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
crit = nn.CrossEntropyLoss()
loader = DataLoader(TensorDataset(train_x, train_y), batch_size=25, shuffle=True)


@torch.no_grad()
def report(epoch):
    net.eval()
    tl, vl = net(train_x), net(val_x)
    print(
        f"epoch {epoch:2d}  train {crit(tl, train_y):.3f}/{(tl.argmax(1) == train_y).float().mean():.3f}"
        f"  val {crit(vl, val_y):.3f}/{(vl.argmax(1) == val_y).float().mean():.3f}"
    )


for epoch in range(16):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        crit(net(x), y).backward()
        opt.step()
    if epoch % 3 == 0:
        report(epoch)
