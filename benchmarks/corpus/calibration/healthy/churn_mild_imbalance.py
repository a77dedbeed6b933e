"""Binary classification, about a quarter of them churn; no weighting used since the classes separate well enough."""
import os
import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))


def customers(n):
    months = torch.rand(n) * 60
    calls = torch.poisson(torch.full((n,), 2.0))
    spend = 20 + 60 * torch.rand(n)
    late = torch.rand(n)
    score = -0.05 * months + 0.7 * calls - 0.02 * spend + 2.0 * late * (calls > 2).float() - 0.6
    churn = (score + 0.3 * torch.randn(n) > 0).float()
    return torch.stack([months, calls, spend, late], 1), churn


x, y = customers(3000)
x_val, y_val = customers(800)
mu, sigma = x.mean(0), x.std(0)
x, x_val = (x - mu) / sigma, (x_val - mu) / sigma
print(f"churn rate {y.mean():.2f}")

net = torch.nn.Sequential(
    torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
)
bce = torch.nn.BCEWithLogitsLoss()
sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)

step = 0
while step < 480:
    order = torch.randperm(len(x))
    for k in range(0, len(x), 60):
        rows = order[k : k + 60]
        loss = bce(net(x[rows]).flatten(), y[rows])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        step += 1
        if step % 80 == 0:
            with torch.no_grad():
                p = net(x_val).flatten() > 0
                acc = (p == (y_val > 0)).float().mean()
                rec = p[y_val > 0].float().mean()
            print(f"step {step} loss {loss.item():.4f} val acc {acc:.3f} churn recall {rec:.3f}")
