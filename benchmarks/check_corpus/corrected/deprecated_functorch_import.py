import torch
import torch.nn as nn
from torch.func import vmap
from torch.func import functional_call, grad

model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
params = {k: v.detach() for k, v in model.named_parameters()}


def loss_of_one(params, x, y):
    out = functional_call(model, params, (x.unsqueeze(0),))
    return nn.functional.cross_entropy(out, y.unsqueeze(0))


per_sample = vmap(grad(loss_of_one), in_dims=(None, 0, 0))
x, y = torch.randn(32, 6), torch.randint(0, 2, (32,))
norms = [g.flatten(1).norm(dim=1) for g in per_sample(params, x, y).values()]
print(torch.stack(norms).norm(dim=0))
