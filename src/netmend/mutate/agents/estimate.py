"""How long the rest of a study will take, from how long the originals took: at least and at most, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netmend.mutate.agents.ladders import Ladder
from netmend.mutate.agents.result import Estimate

if TYPE_CHECKING:
    from netmend.mutate.agents.study import Study


def estimate(state: Study, ladders: Sequence[Ladder], jobs: int) -> Estimate:
    """At least: of every ladder the extreme survives. At most: all looks are taken, none is decided early, and all is played."""
    runs, plan = len(state.seeds), state.plan
    first = (runs + 1) // 2
    least = sum(first for _ in ladders)
    most = sum(runs * min(plan.looks, len(ladder.steps)) for ladder in ladders)
    one = float(np.median([each.facts["train_seconds"] for each in state.originals]))
    played = plan.replay + 2 * plan.random
    start = float(np.median([each.facts["play_seconds"] for each in state.originals])) / max(1, played)
    rest = float(np.median([each.outcome.seconds for each in state.originals])) - one - start * played
    training = one + max(0.5, rest) + start * (plan.replay + plan.edge)
    operators = len({ladder.operator for ladder in ladders})
    playing = runs * (operators + 1) * (start * (plan.weak + 2 * plan.strong + plan.edge) + max(0.5, rest))
    return Estimate((least, most), (least * training / jobs, (most * training + playing) / jobs))
