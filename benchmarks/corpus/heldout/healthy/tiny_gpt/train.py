import json
import math
import os
import pathlib

import torch

from data import get_batch
from model import GPT

torch.manual_seed(int(os.environ.get("SEED", "0")))
cfg = json.loads((pathlib.Path(__file__).parent / "config.json").read_text())
tc = cfg["train"]


def lr_at(step):
    if step < tc["warmup"]:
        return tc["max_lr"] * (step + 1) / tc["warmup"]
    ratio = (step - tc["warmup"]) / (tc["steps"] - tc["warmup"])
    return tc["min_lr"] + 0.5 * (1 + math.cos(math.pi * ratio)) * (tc["max_lr"] - tc["min_lr"])


model = GPT(**cfg["model"])
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
optimizer = model.configure_optimizer(tc["max_lr"], tc["weight_decay"])

model.train()
for step in range(tc["steps"]):
    for g in optimizer.param_groups:
        g["lr"] = lr_at(step)
    x, y = get_batch(tc["batch_size"])
    _, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), tc["clip"])
    optimizer.step()
    if step % 80 == 0 or step == tc["steps"] - 1:
        print(f"step {step}: loss {loss.item():.4f}, grad norm {norm:.2f}")

model.eval()
with torch.no_grad():
    x, y = get_batch(500)
    ctx = x[:, :6]
    for _ in range(5):
        logits, _ = model(ctx)
        ctx = torch.cat([ctx, logits[:, -1:].argmax(-1)], dim=1)
    print("exactly sorted:", (ctx[:, 6:] == y[:, 5:]).all(1).float().mean().item())
