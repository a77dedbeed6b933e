"""Starts that are the same for all mutants: the weak list and the edge list, both chosen by how the originals fare at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netmend.rl.criteria import Criterion
from netmend.rl.environments.space import Rows
from netmend.rl.generators.edge import hardest_passed
from netmend.rl.generators.weak import easiest
from netmend.rl.judging import Failed
from netmend.rl.options import Profile
from netmend.rl.result import EDGE, WEAK
from netmend.rl.trained import Agent


@dataclass(frozen=True, eq=False)
class CommonStarts:
    """By generator: the starts, and where each original fails at them."""

    rows: dict[str, Rows]
    failed: dict[str, list[Failed]]


def common_starts(originals: Sequence[Agent], criterion: Criterion, plan: Profile) -> CommonStarts:
    near = [each.episodes["random"] for each in originals]
    wide = [each.episodes["wide"] for each in originals]
    failed_near = [criterion.failed(each) for each in near]
    failed_wide = [criterion.failed(each) for each in wide]
    easy = easiest(near, failed_near, plan.weak)
    hard = hardest_passed(wide, failed_wide, plan.edge)
    return CommonStarts(
        {WEAK: near[0].starts[easy], EDGE: wide[0].starts[hard]},
        {WEAK: [each[easy] for each in failed_near], EDGE: [each[hard] for each in failed_wide]},
    )
