"""Which methods are compared, in which order they are run."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from bench.locate.fusing import NETMEND, Results, Task, learned, network, tuned, untrained
from bench.locate.learning import CHOICES
from bench.locate.measuring import DNNLOC

# What people decided with figures of all projects in view; everything else comes from other projects only.
SEEN = (
    "which signals there are, the damping and saturation of words (.75, 2.5), that words are weighted by their rarity in reports (counted "
    "in projects that are not searched), that trees rise with evidence and leave single ranks out"
)
Begin = Callable[[str, int], None]
Ended = Callable[[str], None]


def rank_all(
    task: Task, learn: bool, begin: Begin, ended: Ended
) -> tuple[dict[str, Results], dict[str, object]]:
    """Rankings by method, and what was chosen on the way.

    Learning needs at least two projects: what is learned or tuned is never shown its own project.
    """
    results = untrained(task)
    notes: dict[str, object] = {"decided in view of all projects": SEEN}
    several = len({task.project(name) for name in task.sheets}) > 1
    if not several:
        return results, {**notes, "learned": "nothing: one project only"}
    found, chosen = tuned(task)
    results.update(found)
    notes["settings of the baselines"] = chosen
    if not learn:
        return results, notes
    begin("learning, DNNLOC", 1)
    results[DNNLOC] = network(task)
    ended(DNNLOC)
    if find_spec("lightgbm") is None:
        notes["learned"] = "not: LightGBM is not installed (pip install 'netmend[learn]')"
        return results, notes
    begin("learning, parts", len(task.parts()))
    results[NETMEND], notes["settings of the trees"] = learned(
        task, CHOICES, lambda done, total: ended("") if done else None
    )
    return results, notes
