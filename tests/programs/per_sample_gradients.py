"""torch.func: functional_call, vmap over grad (per-sample gradients), clipped and averaged by hand."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.func import functional_call, grad, vmap

seed_everything(42)
x, y = blobs(40)
model = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


def sample_loss(parameters, sample, label):
    logits = functional_call(model, parameters, (sample.unsqueeze(0),))
    return nn.functional.cross_entropy(logits, label.unsqueeze(0))


per_sample = vmap(grad(sample_loss), in_dims=(None, 0, 0))
for step in range(12):
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    gradients = per_sample(parameters, x, y)
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in gradients.values()]).norm(dim=0)
    factor = (1.0 / (norms + 1e-6)).clamp(max=1.0)
    for name, p in model.named_parameters():
        g = gradients[name]
        p.grad = (g * factor.view(-1, *[1] * (g.dim() - 1))).mean(0)
    optimizer.step()
    with torch.no_grad():
        print(step, repr(nn.functional.cross_entropy(model(x), y).item()), repr(norms.max().item()))
finish(model, optimizer)
