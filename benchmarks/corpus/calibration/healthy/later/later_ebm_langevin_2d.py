"""Energy-based model of a four-blob density trained by contrastive divergence with persistent Langevin chains."""
import math
from types import SimpleNamespace

import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

cfg = SimpleNamespace(
    batch=200, iters=360, lr=3e-3,
    langevin=dict(steps=12, step_size=0.02, noise=0.2),
    buffer=2000, reinit=0.02, box=3.0, reg=0.002,
)


CENTRES = torch.tensor([[-1.3, -1.3], [-1.3, 1.3], [1.3, -1.3], [1.3, 1.3]])
SIGMA = 0.35


def blobs(n):
    return CENTRES[torch.randint(4, (n,))] + SIGMA * torch.randn(n, 2)


def true_log_density(x):
    return torch.logsumexp(-torch.cdist(x, CENTRES).pow(2) / (2 * SIGMA ** 2), 1)


class Energy(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 1))

    def forward(self, x):
        # quadratic confinement keeps exp(-E) normalisable
        return self.net(x).squeeze(1) + 0.05 * x.pow(2).sum(1)


def langevin(energy, x, steps, step_size, noise):
    """Unadjusted Langevin dynamics, noise = sqrt(2 * step).  Parameters are not touched."""
    for p in energy.parameters():
        p.requires_grad_(False)
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        (g,) = torch.autograd.grad(energy(x).sum(), x)
        x = x - step_size * g.clamp(-10, 10) + noise * torch.randn_like(x)
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach().clamp(-cfg.box, cfg.box)


def uniform(n):
    return (torch.rand(n, 2) * 2 - 1) * cfg.box


def sliced_w1(a, b, k=32):
    th = torch.arange(k) * math.pi / k
    P = torch.stack([th.cos(), th.sin()])
    return ((a @ P).sort(0).values - (b @ P).sort(0).values).abs().mean().item()


def auc(energy, real, other):
    with torch.no_grad():
        s = -energy(torch.cat([real, other]))
    return roc_auc_score([1] * len(real) + [0] * len(other), s.numpy())


def main():
    torch.manual_seed(31)
    energy = Energy()
    opt = torch.optim.Adam(energy.parameters(), lr=cfg.lr, betas=(0.5, 0.999))
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.iters, eta_min=cfg.lr / 20)
    buffer = uniform(cfg.buffer)
    test = blobs(2000)
    # hard negatives: a Gaussian with the same mean and covariance as the data
    gauss = torch.distributions.MultivariateNormal(test.mean(0), torch.cov(test.T)).sample((2000,))
    print(f"init: AUC vs uniform {auc(energy, test, uniform(2000)):.3f}  vs moment-matched Gaussian {auc(energy, test, gauss):.3f}")

    print(f"the true density would get {auc(lambda x: -true_log_density(x), test, gauss):.3f} against the Gaussian")

    for it in range(1, cfg.iters + 1):
        idx = torch.randint(cfg.buffer, (cfg.batch,))
        x0 = buffer[idx]
        fresh = torch.rand(cfg.batch) < cfg.reinit
        x0[fresh] = uniform(int(fresh.sum()))
        neg = langevin(energy, x0, **cfg.langevin)
        buffer[idx] = neg

        pos = blobs(cfg.batch)
        e_pos, e_neg = energy(pos), energy(neg)
        cd = e_pos.mean() - e_neg.mean()
        loss = cd + cfg.reg * (e_pos.pow(2) + e_neg.pow(2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % 36 == 0:
            print(f"it {it:4d}  E+ {e_pos.mean():+.3f}  E- {e_neg.mean():+.3f}  cd {cd.item():+.4f}  "
                  f"AUC gauss {auc(energy, test, gauss):.3f}  W1(buffer, data) {sliced_w1(buffer, test):.3f}")

    print(f"final: AUC uniform {auc(energy, test, uniform(2000)):.3f}, Gaussian {auc(energy, test, gauss):.3f}; "
          f"sliced W1 samples {sliced_w1(buffer, test):.3f}, Gaussian {sliced_w1(gauss, test):.3f}, uniform {sliced_w1(uniform(2000), test):.3f}")


if __name__ == "__main__":
    main()
