import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def waves(n):
    x = torch.rand(n, 3) * 2 - 1
    y = torch.sin(3 * x[:, 0]) + x[:, 1] ** 2 - x[:, 2] * x[:, 0] + 2.0
    return x, y


class Regressor(nn.Module):
    def __init__(self, sizes=(3, 48, 48, 1)):
        super().__init__()
        mods = []
        for i in range(len(sizes) - 1):
            mods.append(nn.Linear(sizes[i], sizes[i + 1]))
            if i < len(sizes) - 2:
                mods.append(nn.ReLU())
        self.mods = nn.Sequential(*mods)

    def forward(self, x):
        return self.mods(x).flatten()


learning_rate = 0.8
x, y = waves(1500)
xt, yt = waves(300)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
model = Regressor()
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.5)
loss_function = nn.MSELoss()
for epoch in range(12):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_function(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1} loss {loss.item():.4f}")
model.eval()
with torch.no_grad():
    print(f"test mse {loss_function(model(xt), yt).item():.4f} (variance {yt.var().item():.4f})")
