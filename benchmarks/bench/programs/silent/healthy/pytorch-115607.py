"""An encoder with two heads; the second joins after a warm-up. The optimiser's step is traced once and replayed."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
WARM_UP = 3


class TracedAdam(torch.optim.Adam):
    """Adam whose step is specialised at its first call, so that later calls skip all Python bookkeeping."""

    def __init__(self, parameters, **settings):
        super().__init__(parameters, **settings)
        self._trace = None

    @torch.no_grad()
    def step(self, closure=None):
        held = sum(p.grad is not None for group in self.param_groups for p in group["params"])
        if self._trace is None or len(self._trace) != held:
            self._trace = [(p, group) for group in self.param_groups for p in group["params"] if p.grad is not None]
        for p, group in self._trace:
            state = self.state[p]
            if not state:
                state.update(step=0, mean=torch.zeros_like(p), square=torch.zeros_like(p))
            first, second = group["betas"]
            state["step"] += 1
            state["mean"].lerp_(p.grad, 1 - first)
            state["square"].mul_(second).addcmul_(p.grad, p.grad, value=1 - second)
            spread = (state["square"] / (1 - second ** state["step"])).sqrt_().add_(group["eps"])
            p.addcdiv_(state["mean"], spread, value=-group["lr"] / (1 - first ** state["step"]))


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.kind = nn.Linear(64, 4)
        self.size = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        h = self.body(x)
        return self.kind(h), self.size(h).squeeze(1)


def parts(count):
    x = torch.randn(count, 12)
    kind = (x[:, 0] > 0).long() + 2 * (x[:, 1] + x[:, 2] > 0).long()
    size = torch.tanh(x[:, 3]) + 0.5 * x[:, 4] * x[:, 5]
    return x, kind, size


loader = DataLoader(TensorDataset(*parts(1600)), batch_size=40, shuffle=True)
test_x, test_kind, test_size = parts(400)
model = TwoHeads()
optimizer = TracedAdam(model.parameters(), lr=2e-3)
for epoch in range(12):
    model.train()
    for x, kind, size in loader:
        optimizer.zero_grad()
        scores, sizes = model(x)
        loss = nn.functional.cross_entropy(scores, kind)
        if epoch >= WARM_UP:
            loss = loss + nn.functional.mse_loss(sizes, size)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        scores, sizes = model(test_x)
        right = (scores.argmax(1) == test_kind).float().mean().item()
        error = nn.functional.mse_loss(sizes, test_size).item()
    print(f"epoch {epoch} accuracy {right:.3f} size error {error:.4f}")
