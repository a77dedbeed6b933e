import os

import gymnasium as gym
import numpy as np
from stable_baselines3 import TD3
from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise

env = gym.make("MountainCarContinuous-v0")
noise = OrnsteinUhlenbeckActionNoise(mean=np.zeros(1), sigma=0.5 * np.ones(1))
model = TD3(
    "MlpPolicy",
    env,
    learning_starts=100,
    batch_size=64,
    train_freq=2,
    gradient_steps=1,
    policy_kwargs={"net_arch": [64, 48]},
    seed=int(os.environ.get("SEED", "0")),
)
model.learn(1500)
