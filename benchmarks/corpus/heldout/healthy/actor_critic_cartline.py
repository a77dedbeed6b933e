# Advantage actor-critic, 16 parallel copies of a "keep the cart at the line" task
import os
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(int(os.environ.get("SEED", "0")))


class CartLine:
    """pos/vel control with 3 actions (push left, nothing, push right); reward is 1 near the line, else less."""

    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.s = torch.stack([torch.rand(self.n) * 2 - 1, torch.randn(self.n) * 0.1], 1)
        self.t = 0
        return self.s.clone()

    def step(self, a):
        push = (a.float() - 1) * 0.15
        vel = 0.95 * self.s[:, 1] + push + 0.02 * torch.randn(self.n)
        pos = (self.s[:, 0] + 0.3 * vel).clamp(-2, 2)
        self.s = torch.stack([pos, vel], 1)
        self.t += 1
        reward = 1 - pos.abs() - 0.1 * vel.abs()
        return self.s.clone(), reward, self.t >= 40


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.pi = nn.Linear(32, 3)
        self.v = nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


env, ac = CartLine(16), ActorCritic()
opt = torch.optim.Adam(ac.parameters(), lr=4e-3)
gamma, horizon = 0.9, 10
history = []
s, ep_reward = env.reset(), torch.zeros(16)
for update in range(1, 321):
    logps, values, rewards, ents = [], [], [], []
    for _ in range(horizon):
        dist, v = ac(s)
        a = dist.sample()
        s, r, done = env.step(a)
        logps.append(dist.log_prob(a)); values.append(v); rewards.append(r); ents.append(dist.entropy())
        ep_reward += r
        if done:
            break
    with torch.no_grad():
        R = ac(s)[1]  # time limit only, so bootstrap
    returns = []
    for r in reversed(rewards):
        R = r + gamma * R
        returns.insert(0, R)
    returns, values = torch.stack(returns), torch.stack(values)
    adv = returns - values
    policy_loss = -(torch.stack(logps) * adv.detach()).mean()
    value_loss = adv.pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(ac.parameters(), 0.5)
    opt.step()
    if done:
        history.append(ep_reward.mean().item())
        s, ep_reward = env.reset(), torch.zeros(16)
    if update % 80 == 0:
        print(f"update {update} mean episode reward {sum(history[-5:]) / len(history[-5:]):.2f} (max 40) value loss {value_loss.item():.3f}")
print("first episodes", round(sum(history[:5]) / 5, 2), "last", round(sum(history[-5:]) / 5, 2))
