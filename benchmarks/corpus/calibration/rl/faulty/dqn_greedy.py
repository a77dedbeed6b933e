import os
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn

SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

GAMMA = 0.99
BATCH = 64
CAPACITY = 10_000
WARM_UP = 200
SYNC = 150
EPS_START, EPS_END, EPS_STEPS = 1.0, 0.05, 1500


def make_net():
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


env = gym.make("CartPole-v1")
q_net = make_net()
target_net = make_net()
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory = deque(maxlen=CAPACITY)


def act(state, eps):
    with torch.no_grad():
        return int(q_net(torch.as_tensor(state).unsqueeze(0)).argmax(1))


def learn():
    batch = random.sample(memory, BATCH)
    states, actions, rewards, next_states, ends = map(np.array, zip(*batch))
    states = torch.as_tensor(states)
    actions = torch.as_tensor(actions).unsqueeze(1)
    rewards = torch.as_tensor(rewards, dtype=torch.float32)
    next_states = torch.as_tensor(next_states)
    ends = torch.as_tensor(ends, dtype=torch.float32)
    q = q_net(states).gather(1, actions).squeeze(1)
    with torch.no_grad():
        best = target_net(next_states).max(1).values
        target = rewards + GAMMA * best * (1 - ends)
    loss = nn.functional.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


state, _ = env.reset(seed=SEED)
episode_return = 0.0
for step in range(3000):
    eps = max(EPS_END, EPS_START - (EPS_START - EPS_END) * step / EPS_STEPS)
    action = act(state, eps)
    next_state, reward, terminated, truncated, _ = env.step(action)
    memory.append((state, action, reward, next_state, terminated))
    state = next_state
    episode_return += reward
    if terminated or truncated:
        state, _ = env.reset()
        episode_return = 0.0
    if len(memory) >= WARM_UP and step % 2 == 0:
        learn()
    if step % SYNC == 0:
        target_net.load_state_dict(q_net.state_dict())
