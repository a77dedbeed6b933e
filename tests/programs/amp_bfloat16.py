"""Automatic mixed precision on the CPU (bfloat16) with a GradScaler and unscaled clipping."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(7)
x, y = blobs(96)
model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=5)
criterion = nn.CrossEntropyLoss()

for step in range(24):
    batch = slice((step % 6) * 16, (step % 6) * 16 + 16)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = model(x[batch])
        loss = criterion(output, y[batch])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(step, output.dtype, repr(loss.item()), repr(norm.item()), scaler.get_scale())

model.eval()
with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
    print("eval", repr(model(x).float().sum().item()))
finish(model, optimizer)
