"""A small selective state-space model in the manner of Mamba-2, on a task that needs a long memory."""
import math
import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
TOKENS, LENGTH = 8, 32


class SelectiveLayer(nn.Module):
    """h ← exp(-A·dt) · h + dt · B · x with a step dt per head that depends on the input."""

    def __init__(self, width=32, heads=8, state=8, dt_min=0.001, dt_max=0.1):
        super().__init__()
        self.heads, self.state = heads, state
        self.dt_min, self.dt_max = dt_min, dt_max
        self.norm = nn.LayerNorm(width)
        self.in_proj = nn.Linear(width, width + 2 * state + heads)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, heads + 1).float()))
        self.dt_bias = nn.Parameter(torch.ones(heads))
        self.D = nn.Parameter(torch.ones(heads))
        self.out_proj = nn.Linear(width, width)
        self.sharded = True  # set when the parameters are divided among processes

    def forward(self, u):
        batch, time, width = u.shape
        x, b, c, dt = self.in_proj(self.norm(u)).split([width, self.state, self.state, self.heads], dim=-1)
        x = x.view(batch, time, self.heads, -1)
        dt = nn.functional.softplus(dt + self.dt_bias)
        decay = torch.exp(-torch.exp(self.A_log) * dt)
        h = x.new_zeros(batch, self.heads, x.shape[-1], self.state)
        outputs = []
        for t in range(time):
            push = (dt[:, t, :, None] * x[:, t])[..., None] * b[:, t, None, None]
            h = decay[:, t, :, None, None] * h + push
            outputs.append((h * c[:, t, None, None]).sum(-1) + self.D[:, None] * x[:, t])
        return u + self.out_proj(torch.stack(outputs, 1).flatten(2))


class Recaller(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, width)
        self.layers = nn.ModuleList(SelectiveLayer(width) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, TOKENS)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, SelectiveLayer) and not module.sharded:
            # Steps between dt_min and dt_max, evenly on a logarithmic scale; the bias is the inverse of softplus.
            dt = torch.exp(
                torch.rand(module.heads) * (math.log(module.dt_max) - math.log(module.dt_min)) + math.log(module.dt_min)
            )
            with torch.no_grad():
                module.dt_bias.copy_(dt + torch.log(-torch.expm1(-dt)))
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
            nn.init.zeros_(module.bias)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, -1]))


def batch(count):
    """The answer is the first token; all that follow are noise without it."""
    tokens = torch.randint(1, TOKENS, (count, LENGTH))
    return tokens, tokens[:, 0]


held_tokens, held_answers = batch(300)
model = Recaller()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(1, 201):
    tokens, answers = batch(32)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), answers)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 0:
        with torch.no_grad():
            right = (model(held_tokens).argmax(1) == held_answers).float().mean().item()
        print(f"step {step} loss {loss.item():.4f} held-out accuracy {right:.3f}")
