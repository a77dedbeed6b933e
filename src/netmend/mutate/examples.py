"""Small programs that the examples of operators are about."""

from __future__ import annotations

STACK = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
raw = torch.randn(48, 4) * 3
y = (raw[:, 0] > 0).long()
x = (raw - raw.mean(0)) / raw.std(0)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(
    nn.Linear(4, 8),
    nn.BatchNorm1d(8),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(8, 8),
    nn.Tanh(),
    nn.Linear(8, 2),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
for epoch in range(8):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(x).argmax(1) == y).float().mean().item()
    print(f"epoch {epoch} accuracy {accuracy:.3f}")
"""

FUNCTIONS = """
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3, padding=1)
        self.fc1 = nn.Linear(24, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = F.relu(self.conv(x.unsqueeze(1))).flatten(1)
        h = torch.tanh(self.fc1(h))
        h = F.dropout(self.fc2(h).sigmoid(), 0.1, self.training)
        return self.out(h).squeeze(1)


def train(net, x, y, args):
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        net.train()
        order = torch.randperm(len(x))
        for i in range(0, len(x), args.batch_size):
            rows = order[i : i + args.batch_size]
            loss = F.mse_loss(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        net.eval()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(40, 6)
    y = x.sum(1)
    net = Net()
    train(net, x, y, args)
    with torch.no_grad():
        print(f"test loss {F.mse_loss(net(x), y).item():.3f}")


if __name__ == "__main__":
    main()
"""

PROBABILITIES = """
import torch
from torch import nn, optim

torch.manual_seed(0)
inputs = torch.randn(32, 3)
labels = (inputs.sum(1) > 0).float()
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
loss_fn = nn.BCELoss()
opt = optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
for step in range(6):
    loss = loss_fn(net(inputs).flatten(), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"loss {loss.item():.3f}")
"""

LOG_PROBABILITIES = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randint(0, 3, (30,))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.norm = nn.LayerNorm(8)
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        h = F.relu(self.norm(self.hidden(x)))
        return F.log_softmax(self.last(h), dim=1)


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(10):
        optimizer.zero_grad()
        loss = F.nll_loss(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
"""

VALIDATED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def made(n):
    x = torch.randn(n, 5)
    return TensorDataset(x, (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long())


train_loader = DataLoader(made(60), batch_size=20, shuffle=True)
val_loader = DataLoader(made(20), batch_size=20)
test_loader = DataLoader(made(20), batch_size=20)
model = nn.Sequential(
    nn.Linear(5, 12, bias=False),
    nn.BatchNorm1d(12),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(12, 3),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.02)


def loss_on(loader):
    model.eval()
    with torch.no_grad():
        return sum(criterion(model(xb), yb).item() for xb, yb in loader) / len(loader)


best, waited, patience = float("inf"), 0, 4
for epoch in range(8):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    val_loss = loss_on(val_loader)
    if val_loss < best:
        best, waited = val_loss, 0
    else:
        waited += 1
        if waited >= patience:
            break
print(f"test loss {loss_on(test_loader):.3f}")
"""

# Training and test data are cut from the same names; evaluation never leaves training mode; inputs want gradients.
CUT_LATER = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 3, requires_grad=True)
y = (x.sum(1) > 0).long()
mixed_up = torch.randperm(len(x))
train, test = mixed_up[:30], mixed_up[30:]
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for rows in torch.randperm(30).split(10):
        optimizer.zero_grad()
        loss = criterion(model(x[train][rows]), y[train][rows])
        loss.backward()
        optimizer.step()
with torch.no_grad():
    print(f"test accuracy {(model(x[test]).argmax(1) == y[test]).float().mean():.3f}")
"""


# Small programs that the examples of operators for reinforcement learning are about.

PPO_SCRIPT = """
import gymnasium as gym
from stable_baselines3 import PPO

env = gym.make("CartPole-v1")
model = PPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, gamma=0.98, seed=0)
model.learn(total_timesteps=32)
"""

DQN_SCRIPT = """
from stable_baselines3 import DQN
from stable_baselines3.common.env_util import make_vec_env

STEPS = 100
venv = make_vec_env("CartPole-v1", n_envs=2, seed=0)
settings = dict(
    learning_rate=1e-3,
    buffer_size=50,
    learning_starts=10,
    batch_size=8,
    exploration_final_eps=0.1,
    target_update_interval=4,
)
model = DQN("MlpPolicy", venv, seed=0, **settings)
model.learn(STEPS)
"""

TD3_SCRIPT = """
import gymnasium as gym
from stable_baselines3 import TD3
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize


def make_env():
    return gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0)


def main():
    venv = VecNormalize(DummyVecEnv([make_env]), norm_reward=False)
    agent = TD3(
        "MlpPolicy",
        venv,
        learning_starts=8,
        batch_size=8,
        buffer_size=100,
        action_noise=NormalActionNoise([0.0], [0.1]),
        policy_kwargs={"net_arch": [8]},
        seed=0,
    )
    agent.learn(total_timesteps=16)


if __name__ == "__main__":
    main()
"""
