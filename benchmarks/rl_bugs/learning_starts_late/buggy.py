"""DQN on CartPole; settings copied from an Atari script and cut down."""

from stable_baselines3 import DQN
from stable_baselines3.common.env_util import make_vec_env

env = make_vec_env("CartPole-v1", n_envs=8, seed=4)
model = DQN(
    "MlpPolicy",
    env,
    learning_rate=lambda left: 2.5e-3 * left,
    buffer_size=15_000,
    learning_starts=100_000,
    batch_size=128,
    train_freq=32,
    gradient_steps=16,
    n_steps=64,
    tau=0.04,
    target_update_interval=8,
    exploration_fraction=0.2,
    exploration_final_eps=0.15,
    seed=4,
)
model.learn(total_timesteps=50_000)
