"""Environment variables set before torch is imported must still have their effect."""

import os

os.environ["OMP_NUM_THREADS"] = "2"
os.environ["MKL_NUM_THREADS"] = "2"

import torch  # noqa: E402

torch.manual_seed(66)
print("threads", torch.get_num_threads())
model = torch.nn.Linear(64, 64)
for step in range(3):
    loss = model(torch.randn(256, 64)).pow(2).mean()
    model.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.1)
    print(step, repr(loss.item()))
