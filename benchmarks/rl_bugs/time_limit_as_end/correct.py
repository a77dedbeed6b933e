"""Short training episodes, so that the agent sees more starts."""

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env


class ShortEpisodes(gym.Wrapper):
    limit = 150

    def reset(self, **kwargs):
        self.steps = 0
        return self.env.reset(**kwargs)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.steps += 1
        if self.steps >= self.limit:
            truncated = True
        return obs, reward, terminated, truncated, info


env = make_vec_env("CartPole-v1", n_envs=8, seed=3, wrapper_class=ShortEpisodes)
model = PPO(
    "MlpPolicy",
    env,
    n_steps=64,
    batch_size=256,
    gae_lambda=0.9,
    gamma=0.98,
    learning_rate=lambda left: 2e-3 * left,
    seed=3,
)
model.learn(total_timesteps=40_000)

model.set_env(make_vec_env("CartPole-v1", n_envs=8, seed=1003))
