"""RL-NET-BIASED."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.localise.acting_source import model_words
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, register
from netmend.localise.source import last_name, site_of
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Site


@register
class TargetNetworkShared:
    """The target network is the trained network itself under a second name.

    It moves with every update, so errors feed on themselves. Make a copy: `copy.deepcopy(network)`, or a second network that loads the
    first one's weights.
    """

    code: ClassVar[str] = "RL-NET-BIASED"

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        if world is None or world.stepped is None or agents(case.trace) or not case.trace.run.steps:
            return
        words = model_words(case.trace)
        for file in case.sources.files(world.stepped.file):
            called = {last_name(node.func) for node in case.sources.nodes(file) if isinstance(node, ast.Call)}
            for node in case.sources.nodes(file):
                pair = _alias(node, words)
                if pair is None or not set(pair) <= called:
                    continue
                text = f"`{pair[0]}` is `{pair[1]}` itself, not a copy of it, and both are called."
                yield fault(
                    self.code,
                    [Evidence(text, PROVEN)],
                    component=pair[0],
                    site=site_of(file, node),  # type: ignore[arg-type]
                    summary=text,
                    reason="A target that moves with every update lets errors feed on themselves.",
                    remedy=f"Write `{pair[0]} = copy.deepcopy({pair[1]})`, and copy the weights over now and then.",
                    refutation="The second name is not meant as a target network.",
                    related=[world.stepped],
                    explains=("D723", "D721"),
                )
                return

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "one network, two names",
            lambda: acted(a_world(stepped=Site("one_network.txt", 14)), script="one_network.txt"),
        ),
    )


def _alias(node: ast.AST, words: set[str]) -> tuple[str, str] | None:
    """`target = q_net`, `self.target = self.q_net`: the second name and the first."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name | ast.Attribute):
        return None
    original = last_name(node.value)
    for target in node.targets:
        name = last_name(target)
        # The program's name for a model may be either of the two: both stand for one object.
        if name and name != original and {name, original} & words and type(target) is type(node.value):
            return name, original
    return None
