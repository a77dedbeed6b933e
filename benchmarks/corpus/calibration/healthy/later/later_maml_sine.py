# MAML on the sine wave regression problem (10 shots), tasks batched with vmap
import math
import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap

K_SHOT = 10
K_QUERY = 15
META_BATCH = 25
META_ITERS = 1500
INNER_LR = 0.01
META_LR = 2e-3
TEST_STEPS = 5

torch.manual_seed(0)
train_gen = torch.Generator().manual_seed(1)
test_gen = torch.Generator().manual_seed(2)


def sample_tasks(n_tasks, n_points, gen):
    amp = 0.5 + 4.5 * torch.rand(n_tasks, 1, 1, generator=gen)
    phase = math.pi * torch.rand(n_tasks, 1, 1, generator=gen)
    x = 10 * torch.rand(n_tasks, n_points, 1, generator=gen) - 5
    return x, amp * torch.sin(x - phase)


net = nn.Sequential(
    nn.Linear(1, 40), nn.ReLU(),
    nn.Linear(40, 40), nn.ReLU(),
    nn.Linear(40, 1),
)


def task_loss(params, x, y):
    return nn.functional.mse_loss(functional_call(net, params, (x,)), y)


def adapt(params, x, y, steps):
    for _ in range(steps):
        grads = grad(task_loss)(params, x, y)
        params = {k: p - INNER_LR * grads[k] for k, p in params.items()}
    return params


def meta_loss(params, x, y):
    def one_task(xt, yt):
        xs, ys, xq, yq = xt[:K_SHOT], yt[:K_SHOT], xt[K_SHOT:], yt[K_SHOT:]
        fast = adapt(params, xs, ys, 1)
        return task_loss(fast, xq, yq)

    return vmap(one_task)(x, y).mean()


def meta_test(n_tasks=300):
    params = {k: p.detach() for k, p in net.named_parameters()}
    test_gen.manual_seed(2)
    x, y = sample_tasks(n_tasks, K_SHOT + 50, test_gen)

    def one_task(xt, yt):
        fast = adapt(params, xt[:K_SHOT], yt[:K_SHOT], TEST_STEPS)
        before = task_loss(params, xt[K_SHOT:], yt[K_SHOT:])
        after = task_loss(fast, xt[K_SHOT:], yt[K_SHOT:])
        return before, after

    before, after = vmap(one_task)(x, y)
    return before.mean().item(), after.mean().item()


meta_opt = torch.optim.Adam(net.parameters(), lr=META_LR)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(meta_opt, T_max=META_ITERS)
net.train()
avg = None
for it in range(1, META_ITERS + 1):
    x, y = sample_tasks(META_BATCH, K_SHOT + K_QUERY, train_gen)
    loss = meta_loss(dict(net.named_parameters()), x, y)
    meta_opt.zero_grad()
    loss.backward()
    meta_opt.step()
    scheduler.step()
    avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
    if it % 300 == 0:
        print(f"iter {it}: meta loss (avg) {avg:.4f}")

before, after = meta_test()
print(f"meta-test mse before adaptation {before:.4f}, after {TEST_STEPS} steps {after:.4f}")
