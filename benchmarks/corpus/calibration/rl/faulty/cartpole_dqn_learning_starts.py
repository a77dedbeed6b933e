import os

import gymnasium as gym
from stable_baselines3 import DQN

env = gym.make("CartPole-v1")
model = DQN(
    "MlpPolicy",
    env,
    learning_rate=1e-3,
    learning_starts=50_000,
    target_update_interval=500,
    seed=int(os.environ.get("SEED", "0")),
)
model.learn(total_timesteps=4000)
