import os

import gymnasium as gym
from stable_baselines3 import A2C

env = gym.make("MountainCar-v0")
model = A2C("MlpPolicy", env, n_steps=16, seed=int(os.environ.get("SEED", "0")))
model.learn(total_timesteps=4000)
