"""Learn pendulum dynamics: f(state) trained through unrolled RK/Euler steps."""
import os
import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
np.random.seed(seed)

DT, STEPS = 0.1, 10


def simulate(n, steps):
    state = np.stack([np.random.uniform(-2, 2, n), np.random.uniform(-1, 1, n)], 1)
    traj = [state.copy()]
    sub = 20
    for _ in range(steps):
        for _ in range(sub):
            th, om = state[:, 0], state[:, 1]
            state = state + DT / sub * np.stack([om, -3 * np.sin(th) - 0.2 * om], 1)
        traj.append(state.copy())
    return torch.tensor(np.stack(traj, 1), dtype=torch.float32)


class Dynamics(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def step(self, s):
        mid = s + 0.5 * DT * self.f(s)
        return s + DT * self.f(mid)

    def forward(self, s0, n):
        out = [s0]
        for _ in range(n):
            out.append(self.step(out[-1]))
        return torch.stack(out, 1)


def main():
    train, test = simulate(400, STEPS), simulate(100, 20)
    model = Dynamics()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=300, eta_min=1e-4)
    for i in range(300):
        idx = torch.randint(0, 400, (64,))
        pred = model(train[idx, 0], STEPS)
        loss = (pred[:, 1:] - train[idx, 1:]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if (i + 1) % 60 == 0:
            model.eval()
            with torch.no_grad():
                long = (model(test[:, 0], 20) - test).square().mean().item()
            model.train()
            print(f"iter {i + 1} train mse {loss.item():.5f}  20-step rollout mse {long:.5f}")


main()
