import argparse
import os

import gymnasium as gym
import torch
import torch.nn.functional as F
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, n_actions)
        self.v = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def main(args):
    torch.manual_seed(args.seed)
    env = gym.make(args.env)
    net = ActorCritic(env.observation_space.shape[0], env.action_space.n)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    obs, _ = env.reset(seed=args.seed)
    for update in range(args.updates):
        log_probs, values, rewards, masks, entropies = [], [], [], [], []
        for _ in range(args.rollout):
            dist, value = net(torch.as_tensor(obs, dtype=torch.float32))
            action = dist.sample()
            obs, reward, terminated, truncated, _ = env.step(action.item())
            log_probs.append(dist.log_prob(action))
            entropies.append(dist.entropy())
            values.append(value)
            rewards.append(float(reward))
            masks.append(0.0 if terminated else 1.0)
            if terminated or truncated:
                obs, _ = env.reset()
        with torch.no_grad():
            _, next_value = net(torch.as_tensor(obs, dtype=torch.float32))
        ret = next_value
        returns = []
        for r, m in zip(reversed(rewards), reversed(masks)):
            ret = r + args.gamma * ret * m
            returns.append(ret)
        returns = torch.stack(returns[::-1]).detach()
        values = torch.stack(values)
        advantage = returns - values
        policy_loss = -(torch.stack(log_probs) * advantage.detach()).mean()
        loss = policy_loss + 0.5 * F.mse_loss(values, returns) - 0.01 * torch.stack(entropies).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--updates", type=int, default=220)
    parser.add_argument("--rollout", type=int, default=16)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
    main(parser.parse_args())
