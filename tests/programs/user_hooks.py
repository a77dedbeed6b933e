"""The user's own hooks on modules, tensors, optimisers and globally; some of them change values."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(38)
x, y = blobs(48)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
log = []

model[0].register_forward_pre_hook(lambda module, args: (args[0] * 1.5,))
model[0].register_forward_hook(lambda module, args, output: output.clamp(-4, 4))
model[2].register_full_backward_hook(lambda module, gi, go: log.append(repr(go[0].norm().item())))
model[1].register_full_backward_pre_hook(lambda module, go: (go[0] * 0.5,))
model[2].weight.register_hook(lambda gradient: gradient * 0.9)
model[0].bias.register_post_accumulate_grad_hook(lambda p: print(repr(p.grad.mul_(2).sum().item())))
everywhere = nn.modules.module.register_module_forward_hook(
    lambda module, args, output: log.append(type(module).__name__)
)

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_step_pre_hook(lambda opt, args, kwargs: log.append("before step"))
optimizer.register_step_post_hook(lambda opt, args, kwargs: log.append("after step"))
for step in range(12):
    out = model(x)
    out.register_hook(lambda gradient: log.append(repr(gradient.abs().max().item())))
    hidden = model[1](model[0](x))
    hidden.retain_grad()
    loss = nn.functional.cross_entropy(out, y) + 0.01 * hidden.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), repr(hidden.grad.sum().item()))
    if step == 8:
        everywhere.remove()
print("\n".join(log))
print(len(model[0]._forward_hooks), len(model[2]._backward_hooks))
finish(model, optimizer)
