from gymnasium.wrappers import *  # noqa: F403
