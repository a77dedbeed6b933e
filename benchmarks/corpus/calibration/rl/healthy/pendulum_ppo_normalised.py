import os

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

seed = int(os.environ.get("SEED", "0"))
venv = VecNormalize(make_vec_env("Pendulum-v1", n_envs=4, seed=seed), norm_obs=True, norm_reward=True, gamma=0.9)
model = PPO("MlpPolicy", venv, n_steps=128, batch_size=128, n_epochs=5, gamma=0.9, gae_lambda=0.95, learning_rate=1e-3, seed=seed)
model.learn(total_timesteps=6144)
venv.training = False
venv.norm_reward = False
obs = venv.reset()
done = [False]
while not any(done):
    action, _ = model.predict(obs, deterministic=True)
    obs, reward, done, info = venv.step(action)
print("last reward", float(reward[0]))
