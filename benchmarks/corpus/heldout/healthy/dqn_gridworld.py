"""DQN with replay buffer and target network on a 4x4 grid with pits."""
import os
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

seed = int(os.environ.get("SEED", "0"))
random.seed(seed)
torch.manual_seed(seed)


class Grid:
    SIZE, GOAL, PITS = 4, (3, 3), {(1, 1), (2, 3), (3, 0)}
    MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def reset(self):
        free = [(r, c) for r in range(4) for c in range(4) if (r, c) not in self.PITS and (r, c) != self.GOAL]
        self.pos, self.t = random.choice(free), 0
        return self.obs()

    def obs(self):
        v = torch.zeros(16)
        v[self.pos[0] * 4 + self.pos[1]] = 1.0
        return v

    def step(self, a):
        dr, dc = self.MOVES[a]
        self.pos = (min(3, max(0, self.pos[0] + dr)), min(3, max(0, self.pos[1] + dc)))
        self.t += 1
        if self.pos == self.GOAL:
            return self.obs(), 1.0, True, False
        if self.pos in self.PITS:
            return self.obs(), -1.0, True, False
        return self.obs(), -0.04, False, self.t >= 30


def q_network():
    return nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4))


env = Grid()
policy, target = q_network(), q_network()
target.load_state_dict(policy.state_dict())
target.eval()
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
buffer = deque(maxlen=3000)
GAMMA, BATCH = 0.95, 64


def learn():
    s, a, r, s2, done = zip(*random.sample(buffer, BATCH))
    s, s2 = torch.stack(s), torch.stack(s2)
    a, r, done = torch.tensor(a), torch.tensor(r), torch.tensor(done, dtype=torch.float32)
    q = policy(s).gather(1, a[:, None]).squeeze(1)
    with torch.no_grad():
        backup = r + GAMMA * (1 - done) * target(s2).max(1).values
    loss = F.smooth_l1_loss(q, backup)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
    optimizer.step()
    return loss.item()


def act(state, eps):
    if random.random() < eps:
        return random.randrange(4)
    with torch.no_grad():
        return policy(state).argmax().item()


def evaluate(n=60):
    wins = 0
    for _ in range(n):
        s, over = env.reset(), False
        while not over:
            s, r, done, trunc = env.step(act(s, 0.0))
            over = done or trunc
        wins += r > 0
    return wins / n


state, steps, loss = env.reset(), 0, 0.0
for steps in range(1, 2401):
    eps = max(0.05, 1.0 - steps / 1500)
    action = act(state, eps)
    nxt, reward, done, trunc = env.step(action)
    buffer.append((state, action, reward, nxt, float(done)))
    state = env.reset() if (done or trunc) else nxt
    if len(buffer) >= 200 and steps % 3 == 0:
        loss = learn()
    if steps % 150 == 0:
        target.load_state_dict(policy.state_dict())
    if steps % 400 == 0:
        print(f"step {steps} eps {eps:.2f} loss {loss:.4f} success {evaluate():.2f}")
        state = env.reset()
