"""PPO in one file, with synchronous environments."""
import os
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical


@dataclass
class Args:
    env_id: str = "CartPole-v1"
    seed: int = int(os.environ.get("SEED", "0"))
    iterations: int = 14
    num_envs: int = 4
    num_steps: int = 64
    learning_rate: float = 1e-3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    minibatches: int = 4
    epochs: int = 4
    clip: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5


def layer_init(layer, std=np.sqrt(2)):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim, n_actions):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(obs_dim, 64)), nn.Tanh(), layer_init(nn.Linear(64, 1), 1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(obs_dim, 64)), nn.Tanh(), layer_init(nn.Linear(64, n_actions), 0.01))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


args = Args()
torch.manual_seed(args.seed)
envs = gym.vector.SyncVectorEnv([lambda: gym.make(args.env_id) for _ in range(args.num_envs)])
agent = Agent(4, 2)
optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
shape = (args.num_steps, args.num_envs)
obs = torch.zeros(shape + (4,))
actions, logprobs, rewards, ends, values = (torch.zeros(shape) for _ in range(5))

next_obs, _ = envs.reset(seed=args.seed)
next_obs = torch.Tensor(next_obs)
for iteration in range(args.iterations):
    for step in range(args.num_steps):
        obs[step] = next_obs
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
        values[step] = value.flatten()
        actions[step] = action
        logprobs[step] = logprob
        next_np, reward, terminations, truncations, infos = envs.step(action.numpy())
        rewards[step] = torch.tensor(reward)
        ends[step] = torch.tensor(terminations, dtype=torch.float32)
        next_obs = torch.Tensor(next_np)
    with torch.no_grad():
        next_value = agent.get_value(next_obs).flatten()
        advantages = torch.zeros_like(rewards)
        last = 0.0
        for t in reversed(range(args.num_steps)):
            following = next_value if t == args.num_steps - 1 else values[t + 1]
            delta = rewards[t] + args.gamma * following * (1.0 - ends[t]) - values[t]
            advantages[t] = last = delta + args.gamma * args.gae_lambda * (1.0 - ends[t]) * last
        returns = advantages + values
    b_obs, b_act, b_log = obs.reshape(-1, 4), actions.reshape(-1), logprobs.reshape(-1)
    b_adv, b_ret = advantages.reshape(-1), returns.reshape(-1)
    for epoch in range(args.epochs):
        for idx in torch.randperm(len(b_obs)).chunk(args.minibatches):
            _, newlog, entropy, newvalue = agent.get_action_and_value(b_obs[idx], b_act[idx].long())
            ratio = (newlog - b_log[idx]).exp()
            adv = b_adv[idx]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            pg_loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 1 - args.clip, 1 + args.clip)).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - b_ret[idx]) ** 2).mean()
            loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
