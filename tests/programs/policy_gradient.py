"""REINFORCE with a baseline on a tiny corridor: many single-sample forwards, one backward per episode."""

import torch
from common import finish, seed_everything
from torch import nn
from torch.distributions import Categorical

seed_everything(30)
policy = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 2))
value = nn.Linear(5, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)


def play():
    position, log_probs, values, rewards = 1, [], [], []
    for _ in range(12):
        state = nn.functional.one_hot(torch.tensor(position), 5).float()
        action_distribution = Categorical(logits=policy(state))
        action = action_distribution.sample()
        log_probs.append(action_distribution.log_prob(action))
        values.append(value(state))
        position = max(0, min(4, position + (1 if action.item() else -1)))
        rewards.append(1.0 if position == 4 else -0.1)
        if position in (0, 4):
            break
    return log_probs, values, rewards


for episode in range(25):
    log_probs, values, rewards = play()
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.95 * running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    values = torch.cat(values)
    advantage = returns - values.detach()
    loss = -(torch.stack(log_probs) * advantage).sum() + (returns - values).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, len(rewards), repr(sum(rewards)), repr(loss.item()))
finish(policy, value, optimizer)
