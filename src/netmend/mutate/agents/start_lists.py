"""Lists of starts, and which of them count for which pair.

A list that is chosen by how an original fares favours it: at starts that it passes with luck, an equal agent fails more often. So
a pair is judged only at starts that were chosen without its own agents; all pairs' starts together are played by all, to say which ones reveal what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.criteria import Criterion
from netmend.mutate.agents.environments import Rows
from netmend.mutate.agents.episodes import Episodes
from netmend.mutate.agents.generators import easiest, hardest_passed
from netmend.mutate.agents.options import Profile
from netmend.mutate.agents.result import EDGE, WEAK
from netmend.mutate.counts import Counts

Failed = NDArray[np.bool_]  # per start
Places = NDArray[np.intp]
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class StartList:
    """Starts of one generator."""

    rows: Rows
    own: tuple[Places, ...]  # by pair: the starts that it is judged at

    def rows_of(self, pair: int) -> Rows:
        return np.asarray(self.rows[self.own[pair]])

    def counts(self, pair: int, failed: Failed) -> Counts:
        return counts(failed[self.own[pair]])


def counts(failed: Failed) -> Counts:
    failures = int(failed.sum())
    return Counts(len(failed) - failures, failures)


def same_for_all(rows: Rows, pairs: int) -> StartList:
    """A list that owes nothing to any agent."""
    return StartList(rows, (np.arange(len(rows)),) * pairs)


def one_after_another(lists: Sequence[Rows], of_pair: Sequence[int]) -> StartList:
    """`of_pair`: which of the lists each pair is judged at."""
    ends = np.cumsum([len(each) for each in lists])
    places = [np.arange(end - len(each), end) for end, each in zip(ends, lists, strict=True)]
    return StartList(np.concatenate(list(lists)), tuple(places[which] for which in of_pair))


def weak_and_edge(
    near: Sequence[Episodes], wide: Sequence[Episodes], criterion: Criterion, plan: Profile
) -> tuple[dict[str, StartList], dict[str, list[Failed]]]:
    """The lists that are the same for all mutants, and where each original fails; `near`, `wide`: what the originals have played."""
    lists, failed = {}, {}
    for name, played, choose, count in (
        (WEAK, near, easiest, plan.weak),
        (EDGE, wide, hardest_passed, plan.edge),
    ):
        known = [criterion.failed(each) for each in played]
        chosen = [choose(_without(played, pair), _without(known, pair), count) for pair in range(len(played))]
        together = np.unique(np.concatenate(chosen))
        own = tuple(np.searchsorted(together, each) for each in chosen)
        lists[name] = StartList(played[0].starts[together], own)
        failed[name] = [each[together] for each in known]
    return lists, failed


def _without(items: Sequence[Item], place: int) -> list[Item]:
    return [item for at, item in enumerate(items) if at != place]
