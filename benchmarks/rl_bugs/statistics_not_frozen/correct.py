"""Train with normalised observations, then hand the agent over with the statistics it was trained with."""

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

train_env = VecNormalize(make_vec_env("CartPole-v1", n_envs=8, seed=2), norm_reward=False)
model = PPO(
    "MlpPolicy",
    train_env,
    n_steps=64,
    batch_size=256,
    gae_lambda=0.95,
    gamma=0.99,
    learning_rate=lambda left: 3e-3 * left,
    seed=2,
)
model.learn(total_timesteps=40_000)
train_env.save("vecnormalize.pkl")

test_env = make_vec_env("CartPole-v1", n_envs=8, seed=1002)
test_env = VecNormalize.load("vecnormalize.pkl", test_env)
test_env.training = False
model.set_env(test_env)
