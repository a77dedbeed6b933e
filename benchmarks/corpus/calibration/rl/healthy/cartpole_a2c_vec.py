import os

from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

SEED = int(os.environ.get("SEED", "0"))


def main():
    venv = make_vec_env("CartPole-v1", n_envs=4, seed=SEED)
    agent = A2C("MlpPolicy", venv, learning_rate=7e-4, n_steps=8, ent_coef=0.01, seed=SEED)
    agent.learn(6000)
    mean, std = evaluate_policy(agent, venv, n_eval_episodes=4)
    print(f"mean return {mean:.1f} +- {std:.1f}")


if __name__ == "__main__":
    main()
