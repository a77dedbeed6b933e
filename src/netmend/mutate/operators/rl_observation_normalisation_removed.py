"""M713."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.environment_source import environment_calls
from netmend.mutate.agents.example_programs import PPO_SCRIPT, TD3_SCRIPT
from netmend.mutate.agents.ladders import Ladder, RlOperator
from netmend.mutate.agents.places import training
from netmend.mutate.mutation import register
from netmend.program.source.writing import add_argument, replace, unwrap_call
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class RlObservationNormalisationRemoved(RlOperator):
    """Give the agent unnormalised observations.

    Features in different units make the network see mostly the largest one.
    """

    code: ClassVar[str] = "M713"
    causes: ClassVar[tuple[str, ...]] = ("RL-NORM-OBS",)
    published: ClassVar[tuple[str, ...]] = ("MNO",)
    needs: ClassVar[str] = "VecNormalize or NormalizeObservation around the training environment"
    title: ClassVar[str] = "observation normalisation"

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        for file, call in [] if here is None else environment_calls(case, here):
            edits = _removed(file, call)
            if edits:
                yield from self.single(edits, "observations not normalised", "environment")
                return

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "of parallel environments",
            TD3_SCRIPT,
            old="norm_reward=False",
            new="norm_reward=False, norm_obs=False",
        ),
        Example("there is none", PPO_SCRIPT),
    )


def _removed(file: File, call: ast.Call) -> FileEdits:
    if last_name(call.func) == "NormalizeObservation" and call.args:
        return unwrap_call(file, call, call.args[0])
    if last_name(call.func) != "VecNormalize":
        return ()
    for keyword in call.keywords:
        if keyword.arg == "norm_obs":
            off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            return () if off else replace(file, keyword.value, "False")
    return add_argument(file, call, "norm_obs=False") if len(call.args) < 3 else ()
