"""Which rules are on: chosen by code, beginning of a code, family, or cause; the most specific choice wins.

`--select S2 --ignore S203` leaves S203 out, `--ignore S2 --extend-select S201` keeps S201. Advisory rules are chosen by
their full code, by their cause, by ALL, or by a beginning that only advisory rules share; any other choice means the
rules that are on by themselves. Preview rules are like advisory ones until `--preview` makes them like the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from netmend.check.discover import Exclusion
from netmend.errors import UsageError

EVERYTHING = "ALL"
# Findings about suppression comments: not rules, but chosen and left out like rules. See lint/suppress.py.
UNUSED, UNKNOWN = "S001", "S002"
_LEAST_LIKENESS = 0.5  # of a name to what was written, for it to be what was meant
_EXACT = 100  # more specific than any beginning of a code


@dataclass(frozen=True)
class Known:
    """What a choice can name, taken from the rules."""

    causes: Mapping[str, str]  # code of a rule → the cause it stands for
    optional: frozenset[str]  # off until they are selected
    families: Mapping[str, str]  # beginning of codes → name of the family

    @property
    def names(self) -> list[str]:
        names = [*self.causes, *dict.fromkeys(cause for cause in self.causes.values() if cause)]
        return [EVERYTHING, "S", *self.families, *self.families.values(), *names]


@dataclass(frozen=True)
class Selection:
    """The codes that are on, and those left out again for files of certain names."""

    codes: frozenset[str]
    per_file: tuple[tuple[str, frozenset[str]], ...] = ()
    defaults: bool = True  # everything that is on by itself is on
    root: str = ""  # folder that the patterns of `per_file` count from

    def off(self, path: str) -> frozenset[str]:
        """The codes that are left out for one file."""
        if not self.per_file:
            return frozenset()
        return frozenset().union(
            *(codes for pattern, codes in self.per_file if Exclusion((pattern,), self.root)(path))
        )

    def plain(self) -> list[Any]:
        """As lists, for JSON."""
        files = [[pattern, sorted(codes)] for pattern, codes in self.per_file]
        return [sorted(self.codes), files, self.defaults, self.root]

    @staticmethod
    def from_plain(data: Sequence[Any]) -> Selection:
        codes, files, defaults, root = data
        per_file = tuple((pattern, frozenset(off)) for pattern, off in files)
        return Selection(frozenset(codes), per_file, bool(defaults), str(root))


def known_rules(preview: bool = False) -> Known:
    from netmend.check.listing import rules
    from netmend.check.rule import FAMILIES

    listed = rules()
    return Known(
        {UNUSED: "", UNKNOWN: "", **{code: rule.cause for code, rule in listed.items()}},
        frozenset(code for code, rule in listed.items() if not rule.is_on(preview)),
        {"S0": "suppressions", **FAMILIES},
    )


def choose(
    known: Known,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend: Sequence[str] = (),
    per_file: Mapping[str, Sequence[str]] | None = None,
    root: str = "",
) -> Selection:
    """The selection that the options ask for; UsageError names what is unknown and what may have been meant."""
    chosen: dict[str, int] = (
        {} if select else {code: 0 for code in known.causes if code not in known.optional}
    )
    for choice in (*select, *extend):
        found = matching(known, choice)
        everything = choice.upper() == EVERYTHING or found.keys() <= known.optional
        for code, weight in found.items():
            if everything or code not in known.optional or weight == _EXACT:
                chosen[code] = max(weight, chosen.get(code, 0))
    for choice in ignore:
        for code, weight in matching(known, choice).items():
            if weight >= chosen.get(code, weight + 1):
                del chosen[code]
    files = tuple(
        (pattern, frozenset(code for choice in choices for code in matching(known, choice)))
        for pattern, choices in (per_file or {}).items()
    )
    if not chosen:
        raise UsageError(
            "no rule is left: --ignore takes away all that is selected. All rules: netmend explain"
        )
    by_default = known.causes.keys() - known.optional
    return Selection(frozenset(chosen), files, by_default <= chosen.keys(), root)


def matching(known: Known, choice: str) -> dict[str, int]:
    """The codes that a choice names, with how specific it is about them."""
    wanted = choice.strip().upper()
    if wanted == EVERYTHING:
        return dict.fromkeys(known.causes, 1)
    families = {name.upper(): start for start, name in known.families.items()}
    start = families.get(wanted.replace("-", " "), wanted)
    found = {
        code: _EXACT if wanted in (code, cause) else len(start)
        for code, cause in known.causes.items()
        if start and (code.startswith(start) or (cause and cause == wanted))
    }
    if not found and start not in known.families:
        raise UsageError(unknown_choice(known, choice))
    return found


def unknown_choice(known: Known, choice: str) -> str:
    return f"there is no rule {choice!r}{did_you_mean(choice, known.names)} All rules: netmend explain"


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """ "; did you mean S201?" or "." to end a sentence with. Of names equally alike, one that begins alike."""
    import difflib

    meant = wrong.strip().upper()
    matcher = difflib.SequenceMatcher(None, b=meant)

    def likeness(name: str) -> tuple[float, int]:
        matcher.set_seq1(name.upper())
        same = takewhile(lambda pair: pair[0] == pair[1], zip(name.upper(), meant, strict=False))
        return matcher.ratio(), len(list(same))

    nearest = max(sorted(names), key=likeness, default="")
    alike = likeness(nearest)[0] >= _LEAST_LIKENESS
    return f"; did you mean {nearest}?" if alike else "."


def split_choices(values: str | Iterable[str]) -> tuple[str, ...]:
    """Options may be repeated and may hold several choices with commas between."""
    values = [values] if isinstance(values, str) else values
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
