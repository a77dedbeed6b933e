import copy

import torch
from torch import nn

q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
target_net = q_net
opt = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def learn(batch, gamma=0.99):
    s, a, r, s2, done = batch
    with torch.no_grad():
        goal = r + gamma * (1 - done) * target_net(s2).max(1).values
    q = q_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()


def sync():
    target_net.load_state_dict(q_net.state_dict())
