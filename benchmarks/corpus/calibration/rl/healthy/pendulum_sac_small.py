import os

import gymnasium as gym
from stable_baselines3 import SAC

SEED = int(os.environ.get("SEED", "0"))
STEPS = 900

env = gym.make("Pendulum-v1")
model = SAC(
    "MlpPolicy",
    env,
    learning_rate=1e-3,
    learning_starts=150,
    batch_size=64,
    tau=0.01,
    policy_kwargs={"net_arch": [48, 48]},
    seed=SEED,
)
model.learn(total_timesteps=STEPS)
print("steps", model.num_timesteps)
