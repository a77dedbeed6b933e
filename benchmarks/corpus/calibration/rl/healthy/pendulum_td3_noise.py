import os

import gymnasium as gym
import numpy as np
from stable_baselines3 import TD3
from stable_baselines3.common.noise import NormalActionNoise

seed = int(os.environ.get("SEED", "0"))
env = gym.make("Pendulum-v1")
n_actions = env.action_space.shape[-1]
noise = NormalActionNoise(mean=np.zeros(n_actions), sigma=0.1 * np.ones(n_actions))
model = TD3(
    "MlpPolicy", env, action_noise=noise, learning_starts=200, batch_size=64, policy_kwargs=dict(net_arch=[64, 64]), seed=seed
)
model.learn(total_timesteps=1000, log_interval=2)
