"""PPO on CartPole, the way the quick-start page does it."""
import os

import gymnasium as gym
from stable_baselines3 import PPO

SEED = int(os.environ.get("SEED", "0"))

env = gym.make("CartPole-v1")
model = PPO("MlpPolicy", env, n_steps=256, batch_size=64, n_epochs=5, gamma=0.4, seed=SEED, verbose=0)
model.learn(total_timesteps=4096)

obs, _ = env.reset(seed=SEED + 1)
total = 0.0
for _ in range(500):
    action, _ = model.predict(obs, deterministic=True)
    obs, reward, terminated, truncated, _ = env.step(int(action))
    total += reward
    if terminated or truncated:
        break
print("test return", total)
