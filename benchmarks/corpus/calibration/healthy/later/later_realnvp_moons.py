"""RealNVP on two moons measured in millimetre-ish units (so densities are >> 1 and the NLL goes below zero)."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_moons
from sklearn.mixture import GaussianMixture


@dataclass
class Config:
    n_train: int = 3000
    n_val: int = 1000
    n_layers: int = 6
    hidden: int = 48
    batch_size: int = 250
    epochs: int = 36
    lr: float = 3e-3
    seed: int = 3


class Standardise(nn.Module):
    """Fixed affine map; its log-determinant has to be counted, otherwise the NLL is in the wrong units."""

    def __init__(self, data):
        super().__init__()
        self.register_buffer("mean", data.mean(0))
        self.register_buffer("std", data.std(0))

    def forward(self, x):
        return (x - self.mean) / self.std, -self.std.log().sum().expand(len(x))

    def inverse(self, z):
        return z * self.std + self.mean


class Coupling(nn.Module):
    def __init__(self, hidden, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(
            nn.Linear(1, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2)
        )
        # identity at the start
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def st(self, a):
        s, t = self.net(a).chunk(2, dim=1)
        return 1.5 * torch.tanh(s / 1.5), t

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.st(a)
        b = b * s.exp() + t
        return (torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)), s.squeeze(1)

    def inverse(self, z):
        a, b = z.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.st(a)
        b = (b - t) * (-s).exp()
        return torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)


class Flow(nn.Module):
    def __init__(self, cfg, data):
        super().__init__()
        self.layers = nn.ModuleList([Standardise(data)] + [Coupling(cfg.hidden, bool(i % 2)) for i in range(cfg.n_layers)])
        self.base = torch.distributions.Normal(0.0, 1.0)

    def log_prob(self, x):
        total = 0.0
        for layer in self.layers:
            x, ld = layer(x)
            total = total + ld
        return self.base.log_prob(x).sum(1) + total

    @torch.no_grad()
    def sample(self, n):
        z = torch.randn(n, 2)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def get_data(cfg):
    x, _ = make_moons(cfg.n_train + cfg.n_val, noise=0.1, random_state=cfg.seed)
    x = torch.from_numpy(0.05 * x).float()
    return x[: cfg.n_train], x[cfg.n_train:]


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    train, val = get_data(cfg)
    flow = Flow(cfg, train)
    opt = torch.optim.Adam(flow.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.epochs)

    gauss = torch.distributions.MultivariateNormal(train.mean(0), torch.cov(train.T))
    print(f"Gaussian baseline val NLL: {-gauss.log_prob(val).mean():.4f}")
    gmm = GaussianMixture(4, random_state=0).fit(train.numpy().astype(np.float64))
    print(f"GMM(4)   baseline val NLL: {-gmm.score(val.numpy().astype(np.float64)):.4f}")

    for epoch in range(cfg.epochs):
        flow.train()
        nll_sum = 0.0
        for idx in torch.randperm(cfg.n_train).split(cfg.batch_size):
            nll = -flow.log_prob(train[idx]).mean()
            opt.zero_grad(set_to_none=True)
            nll.backward()
            nn.utils.clip_grad_norm_(flow.parameters(), 1.0)
            opt.step()
            nll_sum += nll.item() * len(idx)
        sched.step()
        if epoch % 5 == 0 or epoch == cfg.epochs - 1:
            flow.eval()
            with torch.no_grad():
                v = -flow.log_prob(val).mean().item()
            print(f"epoch {epoch:3d}  train NLL {nll_sum / cfg.n_train:8.4f}  val NLL {v:8.4f}")

    s = flow.sample(2000)
    print("sample mean", s.mean(0).numpy().round(4), "data mean", val.mean(0).numpy().round(4))
    print("sample std ", s.std(0).numpy().round(4), "data std ", val.std(0).numpy().round(4))


if __name__ == "__main__":
    main()
