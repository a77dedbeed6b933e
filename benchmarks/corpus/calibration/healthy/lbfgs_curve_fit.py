import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

x = torch.linspace(-3, 3, 120).unsqueeze(1)
y = torch.sin(2 * x) * torch.exp(-0.2 * x**2) + 0.03 * torch.randn_like(x)
x_val = torch.rand(60, 1) * 6 - 3
y_val = torch.sin(2 * x_val) * torch.exp(-0.2 * x_val**2)

model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=4, history_size=20, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss


for it in range(80):
    loss = optimizer.step(closure)
    if it % 16 == 15:
        with torch.no_grad():
            val = loss_fn(model(x_val), y_val)
        print(f"outer iteration {it + 1}: train mse {loss.item():.6f} val mse {val.item():.6f}")
