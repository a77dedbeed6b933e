import torch


def softplus_penalty(margin, target):
    """Logistic loss on margins, labels in {-1, 1}."""
    return torch.nn.functional.softplus(-target * margin).mean()


weight = torch.zeros(10, requires_grad=True)
x = torch.randn(500, 10)
t = torch.sign(x[:, 0] + 0.3 * torch.randn(500))
opt = torch.optim.SGD([weight], lr=0.1)
for step in range(200):
    opt.zero_grad()
    loss = softplus_penalty(x @ weight, t)
    loss.backward()
    opt.step()
print(loss.item())
