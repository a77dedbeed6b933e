import os

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

SEED = int(os.environ.get("SEED", "0"))


def env_fn():
    return Monitor(gym.make("CartPole-v1"))


train_env = DummyVecEnv([env_fn for _ in range(2)])
eval_env = DummyVecEnv([env_fn])
model = PPO("MlpPolicy", train_env, n_steps=2048, batch_size=64, n_epochs=6, learning_rate=5e-4, gamma=0.98, seed=SEED)
callback = EvalCallback(eval_env, eval_freq=1000, n_eval_episodes=2, verbose=0, warn=False)
model.learn(total_timesteps=4096, callback=callback)
