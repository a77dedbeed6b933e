import os
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

N_STEPS = 1000

envs = make_vec_env("Acrobot-v1", n_envs=2, seed=int(os.environ.get("SEED", "0")))
model = PPO("MlpPolicy", envs, learning_rate=3e-4)
model.learn(total_timesteps=N_STEPS)
print("done")
