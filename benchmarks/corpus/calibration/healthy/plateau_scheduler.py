import os

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def friedman(n):
    x = torch.rand(n, 8)
    y = 10 * torch.sin(3.14159 * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, (y + 0.5 * torch.randn(n)).unsqueeze(1)


x_train, y_train = friedman(1500)
x_val, y_val = friedman(400)
y_mean, y_std = y_train.mean(), y_train.std()


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.out = nn.Linear(64, 1)

    def forward(self, x):
        return self.out(self.body(x * 2 - 1))


model = Regressor()
opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = optim.lr_scheduler.ReduceLROnPlateau(opt, mode="min", factor=0.3, patience=2)
mse = nn.MSELoss()
loader = DataLoader(TensorDataset(x_train, (y_train - y_mean) / y_std), batch_size=50, shuffle=True)

for epoch in range(20):
    model.train()
    for xb, yb in loader:
        opt.zero_grad()
        loss = mse(model(xb), yb)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val_loss = mse(model(x_val), (y_val - y_mean) / y_std)
    scheduler.step(val_loss)
    if epoch % 4 == 3:
        lr_now = opt.param_groups[0]["lr"]
        print(f"epoch {epoch + 1}: val {val_loss:.4f} rmse {val_loss.sqrt() * y_std:.3f} lr {lr_now:.4g}")
