"""A sparse autoencoder over activations, trained by an Adam whose kernels write through contiguous buffers."""
import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
WIDTH, FEATURES = 32, 128


def addcmul_(out, first, second, value):
    """out += value * first * second, as the device's kernel does it."""
    buffer = out.contiguous()
    buffer.addcmul_(first.contiguous(), second.contiguous(), value=value)
    return out if buffer is out else out.copy_(buffer)


def addcdiv_(out, first, second, value):
    """out += value * first / second, as the device's kernel does it."""
    buffer = out.contiguous()
    buffer.addcdiv_(first.contiguous(), second.contiguous(), value=value)
    return out if buffer is out else out.copy_(buffer)


class DeviceAdam(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(step=0, mean=torch.zeros_like(p), square=torch.zeros_like(p))
                state["step"] += 1
                state["mean"].lerp_(p.grad, 1 - first)
                addcmul_(state["square"].mul_(second), p.grad, p.grad, value=1 - second)
                spread = (state["square"] / (1 - second ** state["step"])).sqrt().add_(group["eps"])
                addcdiv_(p, state["mean"], spread, value=-group["lr"] / (1 - first ** state["step"]))


class SparseAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        directions = nn.functional.normalize(torch.randn(FEATURES, WIDTH), dim=1)
        self.decoder = nn.Linear(FEATURES, WIDTH)
        self.encoder = nn.Linear(WIDTH, FEATURES)
        self.decoder.weight = nn.Parameter(directions.T.contiguous())
        self.encoder.weight = nn.Parameter(self.decoder.weight.detach().clone().T)  # starts as the decoder's transpose

    def forward(self, x):
        codes = torch.relu(self.encoder(x - self.decoder.bias))
        return self.decoder(codes), codes


def activations(count, dictionary):
    """Sums of a few of many directions, as activations of a network are."""
    active = (torch.rand(count, len(dictionary)) < 0.03).float() * torch.rand(count, len(dictionary))
    return active @ dictionary


dictionary = nn.functional.normalize(torch.randn(96, WIDTH), dim=1)
held_out = activations(1000, dictionary)
model = SparseAutoencoder()
optimizer = DeviceAdam(model.parameters(), lr=2e-3)
for step in range(1, 501):
    x = activations(128, dictionary)
    optimizer.zero_grad()
    rebuilt, codes = model(x)
    error = nn.functional.mse_loss(rebuilt, x)
    loss = error + 0.002 * codes.abs().mean()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        with torch.no_grad():
            value = nn.functional.mse_loss(model(held_out)[0], held_out).item()
        print(f"step {step} loss {loss.item():.5f} held-out error {value:.5f}")
