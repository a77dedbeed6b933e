import os

from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

seed = int(os.environ.get("SEED", "0"))
config = {"gamma": 0.1, "n_steps": 16, "ent_coef": 0.0, "use_rms_prop": True, "learning_rate": 7e-4}
env = VecNormalize(make_vec_env("Pendulum-v1", n_envs=4, seed=seed))
model = A2C("MlpPolicy", env, seed=seed, **config)
model.learn(total_timesteps=6000)
