"""What has a page besides causes, symptoms and rules: repairs, mutants, neutral changes, measures of a test set."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

_SURPRISES = (
    "LSA",
    "DSA",
    "MDSA",
)  # measures of one input; the coverage of their range is named LSC, DSC, MDSC


def _repairs() -> dict[str, type[Any]]:
    from netmend.repair.repair import REPAIRS

    return {**REPAIRS.classes()}


def _operators() -> dict[str, type[Any]]:
    from netmend.mutate.mutation import OPERATORS

    return {**OPERATORS.classes()}


def _moves() -> dict[str, type[Any]]:
    from netmend.neutral.move import MOVES

    return {**MOVES.classes()}


def _weight_mutants() -> dict[str, type[Any]]:
    try:
        from netmend.adapters.torch.weight_mutants.mutant import MUTANTS
    except ImportError:  # they are written with torch
        return {}
    return {**MUTANTS.classes()}


@dataclass(frozen=True)
class Kind:
    """A family of units with codes, and the field that names leaves of the taxonomy."""

    name: str
    units: Callable[[], dict[str, type[Any]]]
    leads: str = ""
    field: str = ""

    def leaves(self, unit: type[Any]) -> Iterable[str]:
        return getattr(unit, self.field, ()) if self.field else ()


KINDS = (
    Kind("repair", _repairs, "Mends", "cures"),
    Kind("mutation operator", _operators, "Seeds", "causes"),
    Kind("change tried by netmend neutral", _moves, "Would mend", "causes"),
    Kind("mutant of trained weights", _weight_mutants),  # last: only here torch is loaded
)


def measures() -> dict[str, list[str]]:
    """Measures of a test set by the names that `netmend adequacy` prints."""
    package = importlib.import_module("netmend.adequacy.measures")
    found: dict[str, list[str]] = {}
    for module in pkgutil.iter_modules(package.__path__):
        text = importlib.import_module(f"{package.__name__}.{module.name}").__doc__ or ""
        name, colon, _ = text.partition(": ")
        if not colon or " " in name or module.name == "example":
            continue
        found[name.upper()] = [text.strip(), "", "  netmend adequacy (docs/adequacy.md)"]
        if name in _SURPRISES:
            covered = f"{name[:-1]}C: how much of the range of {name} a set of inputs reaches"
            found[f"{name[:-1]}C"] = [covered, "", f"  {text.strip()}"]
    return found
