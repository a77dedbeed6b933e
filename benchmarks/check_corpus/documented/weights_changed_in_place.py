import torch

w = torch.randn(5, 1, requires_grad=True)
x = torch.randn(200, 5)
y = x.sum(1, keepdim=True)
for step in range(100):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w -= 0.1 * w.grad
    w.grad.zero_()
