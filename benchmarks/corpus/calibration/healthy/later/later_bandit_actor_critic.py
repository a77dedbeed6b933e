# Actor-critic on a noisy contextual bandit ("which of 5 ads to show").
# NB the policy loss has no meaning as a learning curve (it hovers around 0) - look at the reward.
import torch
from torch import nn
from torch.distributions import Categorical


class AdBandit:
    """Expected reward of arm a in context x is sigmoid(3 * <w_a, x>) ; observed with Gaussian noise."""

    def __init__(self, n_arms=5, dim=6, noise=0.5, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.w = torch.randn(n_arms, dim, generator=g)
        self.noise, self.dim, self.n_arms = noise, dim, n_arms
        self.g = g

    def contexts(self, n):
        return torch.randn(n, self.dim, generator=self.g)

    def mean_reward(self, x):
        return torch.sigmoid(3 * x @ self.w.T / self.dim ** 0.5)

    def pull(self, x, a):
        m = self.mean_reward(x).gather(1, a[:, None]).squeeze(1)
        return m + self.noise * torch.randn(len(a), generator=self.g)


class Agent:
    def __init__(self, env, entropy0=0.05):
        self.env = env
        self.actor = nn.Sequential(nn.Linear(env.dim, 64), nn.Tanh(), nn.Linear(64, env.n_arms))
        self.critic = nn.Sequential(nn.Linear(env.dim, 64), nn.Tanh(), nn.Linear(64, 1))
        nn.init.zeros_(self.actor[-1].weight)      # uniform policy at the start
        nn.init.zeros_(self.actor[-1].bias)
        self.opt_a = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.opt_c = torch.optim.RMSprop(self.critic.parameters(), lr=2e-3)
        self.entropy0 = entropy0

    def update(self, progress, n=128):
        x = self.env.contexts(n)
        pi = Categorical(logits=self.actor(x))
        a = pi.sample()
        r = self.env.pull(x, a)
        v = self.critic(x).squeeze(1)

        adv = r - v.detach()
        beta = self.entropy0 * (1 - progress)
        actor_loss = -(pi.log_prob(a) * adv).mean() - beta * pi.entropy().mean()
        self.opt_a.zero_grad()
        actor_loss.backward()
        self.opt_a.step()

        critic_loss = (v - r).pow(2).mean()
        self.opt_c.zero_grad()
        critic_loss.backward()
        self.opt_c.step()
        return dict(reward=r.mean().item(), actor=actor_loss.item(), critic=critic_loss.item(),
                    entropy=pi.entropy().mean().item())

    @torch.no_grad()
    def greedy_value(self, x):
        best = self.actor(x).argmax(1)
        return self.env.mean_reward(x).gather(1, best[:, None]).mean().item()


if __name__ == "__main__":
    torch.manual_seed(17)
    env = AdBandit(seed=3)
    agent = Agent(env)
    test_x = env.contexts(4000)
    mr = env.mean_reward(test_x)
    print(f"random {mr.mean():.3f}   best fixed arm {mr.mean(0).max():.3f}   oracle {mr.max(1).values.mean():.3f}")
    STEPS = 1500
    avg = None
    for step in range(STEPS):
        info = agent.update(step / STEPS)
        avg = info if avg is None else {k: 0.98 * avg[k] + 0.02 * info[k] for k in info}
        if (step + 1) % 150 == 0:
            print(f"step {step + 1:5d} " + " ".join(f"{k} {v:+.3f}" for k, v in avg.items())
                  + f" | greedy {agent.greedy_value(test_x):.3f}")
