"""RC, PR and F3 of an answer against what is known to be wrong, as the study of the 22 faults computes them.

RC is the share of the true faults that were named, PR the share of the named ones that are true, F3 their harmonic mean with RC counting
nine times as much. All three are 0 when nothing matches, also when nothing was named. Three modes say when two of them are the same:

- ``type``: the codes are equal; layers do not matter. This is the published score.
- ``layer``: the codes are equal and the layers overlap; an answer that names no layer passes.
- ``atom``: every pair of a code and a layer counts by itself and must be named exactly; a code without layers is one such pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.faults22.facts import Atom
from netmend.errors import UsageError

MODES = ("type", "layer", "atom")
_WEIGHT = 3.0  # the b of F_b


@dataclass(frozen=True)
class Score:
    """Shares from 0 to 1."""

    rc: float
    pr: float
    f3: float


NOTHING = Score(0.0, 0.0, 0.0)


def score(answer: Sequence[Atom], truth: Sequence[Atom], mode: str = "type") -> Score:
    """The answer against one truth."""
    if mode not in MODES:
        raise UsageError(f"the mode of a score is one of {', '.join(MODES)}, got {mode!r}")
    named, true = (_pairs(answer), _pairs(truth)) if mode == "atom" else (_codes(answer), _codes(truth))
    hits = named & true
    if mode == "layer":
        hits = frozenset(code for code in hits if _overlap(answer, truth, str(code)))
    if not hits:
        return NOTHING
    rc, pr = len(hits) / len(true), len(hits) / len(named)
    return Score(rc, pr, f_score(rc, pr))


def score_after(
    answer: Sequence[Atom], truth: Sequence[Atom], alternatives: Iterable[Sequence[Atom]], mode: str = "type"
) -> Score:
    """The same once other changes that repair the program count as truths as well.

    RC is the best over all of them, PR and F3 are means over those at which it is reached: that is the study's rule.
    """
    scores = [score(answer, each, mode) for each in (truth, *alternatives)]
    best = max(one.rc for one in scores)
    return mean([one for one in scores if one.rc >= best - 1e-12]) if best else NOTHING


def f_score(rc: float, pr: float, weight: float = _WEIGHT) -> float:
    below = weight**2 * pr + rc
    return (1 + weight**2) * pr * rc / below if below else 0.0


def mean(scores: Sequence[Score]) -> Score:
    """The plain mean of each of the three, as all published averages are; of none it is 0."""
    if not scores:
        return NOTHING
    count = len(scores)
    return Score(
        sum(one.rc for one in scores) / count,
        sum(one.pr for one in scores) / count,
        sum(one.f3 for one in scores) / count,
    )


def _codes(atoms: Sequence[Atom]) -> frozenset[object]:
    return frozenset(atom.code for atom in atoms)


def _pairs(atoms: Sequence[Atom]) -> frozenset[object]:
    return frozenset((atom.code, layer) for atom in atoms for layer in (atom.layers or (None,)))


def _overlap(answer: Sequence[Atom], truth: Sequence[Atom], code: str) -> bool:
    named, true = _layers(answer, code), _layers(truth, code)
    return not named or not true or bool(named & true)


def _layers(atoms: Sequence[Atom], code: str) -> frozenset[int]:
    return frozenset(layer for atom in atoms if atom.code == code for layer in atom.layers)
