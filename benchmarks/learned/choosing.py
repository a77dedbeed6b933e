"""Which mutants are trained: as many of every cause as there are, drawn by a hash, so that the choice is always the same."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from netmend.mutate.mutation import Mutation, combined

# After these nothing else can show: two faults at once would be one.
_HIDING = frozenset(
    [
        "LOOP-STEP",
        "LOOP-BACKWARD",
        "LOOP-NO-GRAD",
        "PRE-MISS-CLEAN",
        "ARC-INIT-MULTI",
        "LYR-SOFTMAX-MISSING",
        "ACT-OUT-MISSING",
    ]
)


def drawn(*texts: object) -> int:
    """A number that depends on nothing but some texts."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, texts)).encode()).digest()[:8])


def singles(proposed: Mapping[str, Sequence[Mutation]], each: int) -> dict[str, list[Mutation]]:
    """Up to so many mutants of each program; in every round a program gives one of the cause that has the fewest so far."""
    chosen: dict[str, list[Mutation]] = {name: [] for name in proposed}
    causes: Counter[str] = Counter()
    operators: Counter[str] = Counter()
    order = sorted(proposed, key=lambda name: drawn("program", name))
    for _ in range(each):
        for name in order:
            left = [mutation for mutation in proposed[name] if mutation not in chosen[name]]
            if not left:
                continue
            own = Counter(mutation.cause for mutation in chosen[name])
            best = min(
                left,
                key=lambda m: (
                    own[m.cause],
                    causes[m.cause],
                    operators[m.operator],
                    drawn(name, m.operator, m.title),
                ),
            )
            chosen[name].append(best)
            causes[best.cause] += 1
            operators[best.operator] += 1
    return chosen


def pairs(program: str, harmful: Sequence[Mutation], count: int) -> Iterator[tuple[Mutation, Mutation]]:
    """Two faults at once, each of which does harm alone, of different causes and at different places."""
    open_ones = [mutation for mutation in harmful if mutation.cause not in _HIDING]
    both = sorted(
        combinations(open_ones, 2), key=lambda two: drawn(program, *(mutation.title for mutation in two))
    )
    used: Counter[str] = Counter()
    found = 0
    for one, other in both:
        if found == count:
            return
        different = one.cause != other.cause and one.operator != other.operator
        if different and max(used[one.cause], used[other.cause]) < 2 and combined((one, other)) is not None:
            used.update((one.cause, other.cause))
            found += 1
            yield one, other
