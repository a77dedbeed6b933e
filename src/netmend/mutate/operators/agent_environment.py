"""Operators for reinforcement learning that change the environment: wrappers with a fault around it, and normalising wrappers removed: M709 … M713, M721 … M728."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.mutate.agents.environment_source import environment_calls
from netmend.mutate.agents.ladders import Ladder, RlOperator, WrapperRow, register_rows
from netmend.mutate.agents.places import training
from netmend.mutate.examples import PPO_SCRIPT, TD3_SCRIPT
from netmend.program.source.writing import add_argument, replace, unwrap_call
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.testing.example import Example, changed
from netmend.vocabulary.change import FileEdits


def _rewarding(name: str, reward: str) -> str:
    return f"""
class {name}({{gym}}.RewardWrapper):
    def reward(self, reward):
        return {reward}
"""


def _returning(name: str, answer: str) -> str:
    """A wrapper whose `step` changes only what it returns."""
    return f"""
class {name}({{gym}}.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return {answer}
"""


WRAPPERS = (
    WrapperRow(
        "M709",
        "sparse reward",
        "LateReward",
        causes=("RL-REW-SPARSE",),
        published=("SPR",),
        on=(2, 5, 10, 20, 50, 100, 100000),
        words="reward paid every {value:g} steps",
        page="""Give the reward only once in a while.

        The sum is the same, but which action earned it is hard to tell.""",
        definition="""
class LateReward({gym}.Wrapper):
    def reset(self, **kwargs):
        self.owed, self.steps = 0.0, 0
        return self.env.reset(**kwargs)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.owed, self.steps = self.owed + reward, self.steps + 1
        if self.steps % {value} and not (terminated or truncated):
            return observation, 0.0, terminated, truncated, info
        paid, self.owed = self.owed, 0.0
        return observation, paid, terminated, truncated, info
""",
    ),
    WrapperRow(
        "M710",
        "reward scale",
        "ScaledReward",
        causes=("RL-REW-NORM-MISS", "RL-REW-SUBOPT"),
        published=("SRS",),
        down=(0.3, 0.1, 0.03, 0.01, 0.001, 0.0001),
        up=(3, 10, 30, 100, 1000, 10000),
        down_cause="RL-REW-SUBOPT",
        up_cause="RL-REW-NORM-MISS",
        words="reward × {value:g}",
        page="""Multiply the reward by a constant.

        Far too large rewards make values and gradients huge; far too small ones drown in other terms of the loss.""",
        definition=_rewarding("ScaledReward", "reward * {value}"),
    ),
    WrapperRow(
        "M711",
        "few start states",
        "SameStart",
        causes=("RL-FA-START-STATE",),
        published=("NRS",),
        on=(100, 20, 5, 2, 1),
        words=lambda value: f"{value:g} start states" if value > 1 else "one start state",
        page="""Start every episode from one of a few states.

        What the agent has never started from, it may not know how to handle.""",
        definition="""
class SameStart({gym}.Wrapper):
    episodes = 0

    def reset(self, *, seed=None, options=None):
        self.episodes += 1
        return self.env.reset(seed=self.episodes % {value}, options=options)
""",
    ),
    WrapperRow(
        "M721",
        "reward offset",
        "ShiftedReward",
        causes=("RL-REW-SUBOPT",),
        down=(-0.1, -0.3, -0.6, -0.9, -1.0, -1.5, -3.0),
        up=(0.3, 1.0, 3.0, 10.0),
        words="reward {value:+g}",
        page="""Add a constant to every reward.

        A constant is harmless in episodes of fixed length only: elsewhere the agent learns to end the episode, or to drag it out.""",
        definition=_rewarding("ShiftedReward", "reward + {value}"),
    ),
    WrapperRow(
        "M722",
        "reward noise",
        "NoisyReward",
        causes=("RL-REW-SUBOPT",),
        published=("RN",),
        on=(0.1, 0.3, 1, 3, 10, 30),
        words="reward noise of deviation {value:g}",
        page="""Add noise to the reward.

        The agent has to average over many steps to see what pays.""",
        definition=_returning(
            "NoisyReward",
            "observation, reward + {value} * self.np_random.normal(), terminated, truncated, info",
        ),
    ),
    WrapperRow(
        "M723",
        "hidden features",
        "HiddenFeatures",
        causes=("RL-ENV-STATE",),
        on=(1, 2, 3),
        words=lambda value: "last feature hidden" if value == 1 else f"last {value:g} features hidden",
        page="""Hide a part of the observation.

        Without it two different states look the same: no policy without memory can tell what to do.""",
        definition="""
class HiddenFeatures({gym}.ObservationWrapper):
    def observation(self, observation):
        observation = observation.copy()
        observation[-{value}:] = 0
        return observation
""",
    ),
    WrapperRow(
        "M724",
        "feature scale",
        "OtherUnit",
        causes=("RL-ENV-SCALE",),
        on=(3, 10, 100, 1000, 10000),
        words="first feature × {value:g}",
        page="""Change the unit of one observation feature.

        The network sees one number a thousand times larger than the others, and little else.""",
        definition="""
class OtherUnit({gym}.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = {gym}.spaces.Box(-float("inf"), float("inf"), env.observation_space.shape)

    def other_unit(self, observation):
        observation = observation.copy()
        observation[0] *= {value}
        return observation

    def reset(self, **kwargs):
        observation, info = self.env.reset(**kwargs)
        return self.other_unit(observation), info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.other_unit(observation), reward, terminated, truncated, info
""",
    ),
    WrapperRow(
        "M725",
        "time limit as an end",
        "OneFlag",
        causes=("RL-ENV-FLAGS",),
        on=(1,),
        words="truncation reported as termination",
        page="""Report the time limit as a real end.

        The agent learns that good states lead to nothing, because episodes that last are cut there.""",
        definition=_returning("OneFlag", "observation, reward, terminated or truncated, False, info"),
    ),
    WrapperRow(
        "M726",
        "end as a time limit",
        "NoEnd",
        causes=("RL-ENV-DONES", "RL-ENV-FLAGS"),
        on=(1,),
        words="termination reported as truncation",
        page="""Report a real end as a time limit.

        The value of what would have come after is added at the end: failing looks as good as going on.""",
        definition=_returning("NoEnd", "observation, reward, False, terminated or truncated, info"),
    ),
    WrapperRow(
        "M727",
        "stale observations",
        "StaleObservation",
        causes=("RL-STEP-MISSING",),
        published=("R",),
        on=(0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95),
        words="{value:.0%} of the observations not updated",
        page="""Sometimes give the previous step's observation.

        The agent acts on a state that is no longer there.""",
        definition="""
class StaleObservation({gym}.Wrapper):
    def reset(self, **kwargs):
        self.last, info = self.env.reset(**kwargs)
        return self.last, info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self.np_random.random() >= {value}:
            self.last = observation
        return self.last, reward, terminated, truncated, info
""",
    ),
    WrapperRow(
        "M728",
        "frame skip",
        "RepeatedAction",
        causes=("RL-ENV-FRAMESKIP",),
        on=(2, 3, 4, 6, 8, 16),
        words="each action for {value:g} steps",
        page="""Repeat every action for several steps.

        The agent reacts late; what needs quick corrections gets out of hand.""",
        definition="""
class RepeatedAction({gym}.Wrapper):
    def step(self, action):
        total = 0.0
        for _ in range({value}):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info
""",
    ),
)


def _around_gym_make(row: WrapperRow) -> dict[str, Example]:
    """The mildest of its faults in a program that makes one environment."""
    definition = row.text((*row.down, *row.up, *row.on)[0]).replace("{gym}", "gym").strip("\n")
    wrapped = f'⟨gym.make("CartPole-v1") → {row.wrapper}(gym.make("CartPole-v1"))⟩'
    return {"around gym.make": changed(PPO_SCRIPT, f"⟨ → \n{definition}\n\n⟩env = {wrapped}")}


register_rows(WRAPPERS, _around_gym_make)


class _WrapperRemoved(RlOperator):
    """The first wrapper on the way to the environment that can be taken off."""

    words: str

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        for file, call in [] if here is None else environment_calls(case, here):
            edits = self.removed(file, call)
            if edits:
                yield from self.single(edits, self.words, "environment")
                return

    def removed(self, file: File, call: ast.Call) -> FileEdits:
        raise NotImplementedError


class ActionNormalisationRemoved(_WrapperRemoved, code="M712", causes=("RL-NORM-ACT",), published=("MNA",)):
    """Remove the wrapper that scales actions to between -1 and 1.

    A new policy acts with a spread of about 1: in a range of ±100 it hardly explores, in one of ±0.01 it always hits the edge. Algorithms that
    rescale actions themselves (SAC, TQC, TD3, DDPG) do not mind; there the mutant is equivalent, and is told so.
    """

    needs = "RescaleAction around the training environment"
    title = "action normalisation"
    words = "actions not rescaled"

    def removed(self, file: File, call: ast.Call) -> FileEdits:
        if last_name(call.func) == "RescaleAction" and call.args:
            return unwrap_call(file, call, call.args[0])
        return ()

    EXAMPLES = {
        "unwrapped": changed(
            TD3_SCRIPT,
            'gym.⟨wrappers.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0) → make("Pendulum-v1")⟩',
        ),
        "there is none": changed(PPO_SCRIPT),
    }


class ObservationNormalisationRemoved(
    _WrapperRemoved, code="M713", causes=("RL-NORM-OBS",), published=("MNO",)
):
    """Give the agent unnormalised observations.

    Features in different units make the network see mostly the largest one.
    """

    needs = "VecNormalize or NormalizeObservation around the training environment"
    title = "observation normalisation"
    words = "observations not normalised"

    def removed(self, file: File, call: ast.Call) -> FileEdits:
        if last_name(call.func) == "NormalizeObservation" and call.args:
            return unwrap_call(file, call, call.args[0])
        if last_name(call.func) != "VecNormalize":
            return ()
        for keyword in call.keywords:
            if keyword.arg == "norm_obs":
                off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                return () if off else replace(file, keyword.value, "False")
        return add_argument(file, call, "norm_obs=False") if len(call.args) < 3 else ()

    EXAMPLES = {
        "of parallel environments": changed(TD3_SCRIPT, "norm_reward=False⟨ → , norm_obs=False⟩"),
        "there is none": changed(PPO_SCRIPT),
    }
