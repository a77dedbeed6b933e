"""Double backward: gradient penalty through torch.autograd.grad(create_graph=True), plus an adversarial example."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(41)
critic = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
for step in range(20):
    real = torch.randn(32, 2) + 2
    fake = torch.randn(32, 2)
    mix = torch.rand(32, 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (gradient,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    penalty = ((gradient.norm(dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attacked = real.clone().requires_grad_(True)
    sign = torch.autograd.grad(critic(attacked).sum(), attacked)[0].sign()
    print(step, repr(loss.item()), repr(penalty.item()), repr(critic(real - 0.1 * sign).mean().item()))

# updates without backward() and without an optimiser
for step in range(5):
    loss = critic(torch.randn(32, 2)).pow(2).mean()
    gradients = torch.autograd.grad(loss, list(critic.parameters()))
    with torch.no_grad():
        for p, g in zip(critic.parameters(), gradients):
            p.sub_(g, alpha=0.01)
    print("plain", step, repr(loss.item()))
finish(critic, optimizer)
