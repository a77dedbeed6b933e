"""Double DQN with an agent class and soft target updates."""
import copy
import os

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


class ReplayBuffer:
    def __init__(self, capacity, obs_dim, seed):
        self.capacity, self.position, self.full = capacity, 0, False
        self.obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.next_obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.actions = np.zeros(capacity, dtype=np.int64)
        self.rewards = np.zeros(capacity, dtype=np.float32)
        self.terminals = np.zeros(capacity, dtype=np.float32)
        self.rng = np.random.default_rng(seed)

    def push(self, obs, action, reward, next_obs, terminal):
        i = self.position
        self.obs[i], self.actions[i], self.rewards[i] = obs, action, reward
        self.next_obs[i], self.terminals[i] = next_obs, terminal
        self.position = (i + 1) % self.capacity
        self.full = self.full or self.position == 0

    def __len__(self):
        return self.capacity if self.full else self.position

    def sample(self, n):
        idx = self.rng.integers(0, len(self), n)
        return tuple(torch.from_numpy(a[idx]) for a in (self.obs, self.actions, self.rewards, self.next_obs, self.terminals))


class DoubleDQN:
    def __init__(self, obs_dim, n_actions, seed):
        torch.manual_seed(seed)
        self.online = nn.Sequential(nn.Linear(obs_dim, 48), nn.ReLU(), nn.Linear(48, n_actions))
        self.lagging = self.online
        self.optim = torch.optim.AdamW(self.online.parameters(), lr=2e-3)
        self.n_actions = n_actions
        self.rng = np.random.default_rng(seed)

    def act(self, obs, epsilon):
        if self.rng.uniform() < epsilon:
            return int(self.rng.integers(self.n_actions))
        with torch.no_grad():
            return int(self.online(torch.from_numpy(obs)).argmax())

    def update(self, batch, gamma=0.98, rho=0.02):
        obs, actions, rewards, next_obs, terminals = batch
        with torch.no_grad():
            choice = self.online(next_obs).argmax(1, keepdim=True)
            future = self.lagging(next_obs).gather(1, choice).squeeze(1)
            goal = rewards + gamma * (1.0 - terminals) * future
        guess = self.online(obs).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = nn.functional.huber_loss(guess, goal)
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        with torch.no_grad():
            for p, q in zip(self.online.parameters(), self.lagging.parameters()):
                q.lerp_(p, rho)
        return loss.item()


def run(seed):
    env = gym.make("CartPole-v1")
    agent, memory = DoubleDQN(4, 2, seed), ReplayBuffer(5000, 4, seed)
    steps, epsilon = 0, 1.0
    for episode in range(110):
        obs, _ = env.reset(seed=seed + episode)
        while True:
            action = agent.act(obs, epsilon)
            next_obs, reward, terminated, truncated, _ = env.step(action)
            memory.push(obs, action, reward, next_obs, terminated)
            obs = next_obs
            steps += 1
            if len(memory) > 128:
                agent.update(memory.sample(32))
            if terminated or truncated:
                break
        epsilon = max(0.05, epsilon * 0.97)


run(int(os.environ.get("SEED", "0")))
