"""WGAN-GP on a ring of five Gaussians."""
import argparse
import math

import torch
import torch.nn as nn

N_MODES = 5
STD = 0.15


class Generator(nn.Module):
    def __init__(self, z_dim, width):
        super().__init__()
        self.z_dim = z_dim
        self.net = nn.Sequential(
            nn.Linear(z_dim, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 2),
        )

    def forward(self, z):
        return self.net(z)

    def sample(self, n):
        return self(torch.randn(n, self.z_dim))


class Critic(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.LeakyReLU(0.2),
            nn.Linear(width, width), nn.LeakyReLU(0.2),
            nn.Linear(width, width), nn.LeakyReLU(0.2),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def ring_centers():
    ang = torch.arange(N_MODES) * (2 * math.pi / N_MODES)
    return math.sqrt(2) * torch.stack([ang.cos(), ang.sin()], dim=1)


def make_ring(n, generator):
    idx = torch.randint(0, N_MODES, (n,), generator=generator)
    return ring_centers()[idx] + STD * torch.randn(n, 2, generator=generator)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grads = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


class WGANTrainer:
    def __init__(self, args, train_x, val_x):
        self.args = args
        self.train_x, self.val_x = train_x, val_x
        self.G = Generator(args.z_dim, args.width)
        self.D = Critic(args.width)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=args.lr, betas=(0.5, 0.9))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=args.lr, betas=(0.5, 0.9))
        decay = lambda step: 1.0 - 0.95 * step / args.steps
        self.sched_g = torch.optim.lr_scheduler.LambdaLR(self.opt_g, decay)
        self.sched_d = torch.optim.lr_scheduler.LambdaLR(self.opt_d, decay)

    def real_batch(self):
        idx = torch.randint(0, len(self.train_x), (self.args.batch_size,))
        return self.train_x[idx]

    def critic_step(self):
        real = self.real_batch()
        with torch.no_grad():
            fake = self.G.sample(real.size(0))
        gp = gradient_penalty(self.D, real, fake)
        w_dist = self.D(real).mean() - self.D(fake).mean()
        loss = -w_dist + self.args.gp_weight * gp
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return w_dist.item(), gp.item()

    def generator_step(self):
        fake = self.G.sample(self.args.batch_size).detach()
        loss = -self.D(fake).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self):
        self.G.eval()
        fake = self.G.sample(len(self.val_x))
        self.G.train()
        dist = torch.cdist(fake, ring_centers())
        near, which = dist.min(dim=1)
        good = near < 3 * STD
        modes = (torch.bincount(which[good], minlength=N_MODES) > 0.1 * len(fake)).sum().item()
        ang = torch.arange(32) * math.pi / 32
        proj = torch.stack([ang.cos(), ang.sin()])
        swd = ((fake @ proj).sort(0).values - (self.val_x @ proj).sort(0).values).abs().mean().item()
        return good.float().mean().item(), modes, swd

    def fit(self):
        for step in range(1, self.args.steps + 1):
            for _ in range(self.args.n_critic):
                w_dist, gp = self.critic_step()
            self.generator_step()
            self.sched_g.step()
            self.sched_d.step()
            if step % self.args.log_every == 0:
                hq, modes, swd = self.evaluate()
                print(f"step {step:5d}  W {w_dist:.3f}  gp {gp:.4f}  high-quality {hq:.3f}  "
                      f"modes {modes}/{N_MODES}  val SWD {swd:.4f}")


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--z-dim", type=int, default=4)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--gp-weight", type=float, default=1.0)
    p.add_argument("--n-critic", type=int, default=5)
    p.add_argument("--steps", type=int, default=500)
    p.add_argument("--log-every", type=int, default=100)
    return p.parse_args()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    data_rng = torch.Generator().manual_seed(args.seed)
    train_x = make_ring(10000, data_rng)
    val_x = make_ring(2000, data_rng)
    WGANTrainer(args, train_x, val_x).fit()


if __name__ == "__main__":
    main()
