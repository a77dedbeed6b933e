"""A shaped reward for CartPole: stay upright, and near the middle of the track."""

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env


class CenteredReward(gym.Wrapper):
    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        x, _, theta, _ = obs
        shaped = reward - 0.5 * abs(x) - 5.0 * abs(theta)
        return obs, shaped, terminated, truncated, info


env = make_vec_env("CartPole-v1", n_envs=8, seed=1, wrapper_class=CenteredReward)
model = PPO(
    "MlpPolicy",
    env,
    n_steps=64,
    batch_size=256,
    gae_lambda=0.9,
    gamma=0.98,
    learning_rate=lambda left: 2e-3 * left,
    seed=1,
)
model.learn(total_timesteps=40_000)
