import copy
import os
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

GAMMA, TAU, BATCH = 0.95, 0.05, 64
N = 5


class GridWorld:
    """5x5 grid, random start, goal in a corner, a pit in the middle."""

    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def reset(self):
        while True:
            self.pos = [random.randrange(N), random.randrange(N)]
            if tuple(self.pos) not in ((4, 4), (2, 2)):
                break
        self.t = 0
        return self.state()

    def state(self):
        v = torch.zeros(2 * N)
        v[self.pos[0]] = 1.0
        v[N + self.pos[1]] = 1.0
        return v

    def step(self, a):
        for k in (0, 1):
            self.pos[k] = min(N - 1, max(0, self.pos[k] + self.moves[a][k]))
        self.t += 1
        where = tuple(self.pos)
        terminated = where in ((4, 4), (2, 2))
        reward = 1.0 if where == (4, 4) else -1.0 if where == (2, 2) else -0.02
        return self.state(), reward, terminated, self.t >= 30


def greedy_score(q, env, episodes=50):
    total = 0.0
    with torch.no_grad():
        for _ in range(episodes):
            s, over = env.reset(), False
            while not over:
                s, r, term, trunc = env.step(int(q(s).argmax()))
                total += r
                over = term or trunc
    return total / episodes


if __name__ == "__main__":
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    random.seed(seed)
    env = GridWorld()
    q = nn.Sequential(nn.Linear(2 * N, 64), nn.ReLU(), nn.Linear(64, 4))
    target = copy.deepcopy(q).requires_grad_(False)
    optimizer = torch.optim.Adam(q.parameters(), lr=3e-3)
    memory = deque(maxlen=5000)
    s, eps = env.reset(), 1.0
    for step in range(1, 1601):
        eps = max(0.1, 1.0 - step / 800)
        a = random.randrange(4) if random.random() < eps else int(q(s).argmax())
        s2, r, term, trunc = env.step(a)
        memory.append((s, a, r, s2, float(term)))
        s = env.reset() if term or trunc else s2
        if len(memory) < 200 or step % 2:
            continue
        bs, ba, br, bs2, bd = zip(*random.sample(memory, BATCH))
        qa = q(torch.stack(bs)).gather(1, torch.tensor(ba)[:, None]).squeeze(1)
        with torch.no_grad():
            goal = torch.tensor(br) + GAMMA * (1 - torch.tensor(bd)) * target(torch.stack(bs2)).max(1).values
        loss = F.smooth_l1_loss(qa, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for pt, p in zip(target.parameters(), q.parameters()):
                pt.lerp_(p, TAU)
        if step % 400 == 0:
            print(f"step {step} loss {loss.item():.5f} eps {eps:.2f}")
    print("greedy return", round(greedy_score(q, env), 3))
