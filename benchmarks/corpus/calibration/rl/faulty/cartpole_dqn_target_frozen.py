"""DQN on CartPole with the library's defaults for the target network."""
import os
import gymnasium as gym
from stable_baselines3 import DQN

TARGET_EVERY = 10_000
STEPS = 3_000


def train(seed):
    env = gym.make("CartPole-v1")
    agent = DQN("MlpPolicy", env, learning_rate=1e-3, learning_starts=200, target_update_interval=TARGET_EVERY, seed=seed)
    agent.learn(STEPS)
    return agent


if __name__ == "__main__":
    train(int(os.environ.get("SEED", "0")))
