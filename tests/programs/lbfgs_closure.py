"""LBFGS with a closure: several forward and backward passes inside one step."""

import torch
from common import finish, seed_everything

seed_everything(13)
x = torch.linspace(-2, 2, 60).unsqueeze(1)
y = torch.sin(2 * x) + 0.05 * torch.randn(60, 1)
model = torch.nn.Sequential(torch.nn.Linear(1, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for step in range(12):
    loss = optimizer.step(closure)
    print(step, calls, repr(loss.item()))
finish(model)
