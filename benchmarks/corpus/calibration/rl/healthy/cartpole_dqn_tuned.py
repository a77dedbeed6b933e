import os

import gymnasium as gym
from stable_baselines3 import DQN

seed = int(os.environ.get("SEED", "0"))
settings = dict(
    learning_rate=2.3e-3,
    batch_size=64,
    buffer_size=20_000,
    learning_starts=300,
    gamma=0.99,
    target_update_interval=50,
    train_freq=8,
    gradient_steps=8,
    exploration_fraction=0.3,
    exploration_final_eps=0.05,
)
model = DQN("MlpPolicy", gym.make("CartPole-v1"), seed=seed, **settings)
model.learn(total_timesteps=3000)
