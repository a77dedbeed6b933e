"""All rules without loading them: what decides whether a rule concerns a text, from a list that is written beside the rules.

Two hundred modules take longer to import than a file takes to check. A rule is loaded when a text first concerns it.
"""

from __future__ import annotations

import importlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netmend.check.rule import RULES, Findings, StaticRule

if TYPE_CHECKING:
    from netmend.program.engine.program import Program

FOLDER = Path(__file__).parent / "rules"
FILE = FOLDER / "listing.json"
_COPIED = ("code", "cause", "message", "advisory", "preview", "in_tests", "triggers", "needs", "patterns")


class Listed(StaticRule):
    """A rule that is known by what the list says of it."""

    def __init__(self, entry: dict[str, Any]) -> None:
        for name in _COPIED:
            value = entry[name]
            setattr(self, name, tuple(value) if isinstance(value, list) else value)
        self._module, self._name = entry["module"], entry["name"]
        self._rule: StaticRule | None = None

    def check(self, program: Program) -> Findings:
        if self._rule is None:
            module = importlib.import_module(f"netmend.check.rules.{self._module}")
            self._rule = getattr(module, self._name)()
        return self._rule.check(program)


@cache
def rules() -> dict[str, StaticRule]:
    """Every rule by code; loaded at once only where the list is missing or older than the rules."""
    try:
        listed = json.loads(FILE.read_text(encoding="utf-8"))
        if listed["sizes"] == sizes():
            return {entry["code"]: Listed(entry) for entry in listed["rules"]}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {code: rule() for code, rule in RULES.classes().items()}


def sizes() -> dict[str, int]:
    """The rules' files with their sizes: a list made from others is of no use."""
    return {entry.name: entry.stat().st_size for entry in sorted(os.scandir(FOLDER), key=lambda entry: entry.name)
            if entry.name.endswith(".py")}  # fmt: skip


def written() -> str:
    """The list as it should be."""
    found = [
        {
            **{name: getattr(rule, name) for name in _COPIED},
            "module": rule.__module__.rpartition(".")[2],
            "name": rule.__name__,
        }
        for rule in RULES.classes().values()
    ]
    return json.dumps({"sizes": sizes(), "rules": found}, indent=1, ensure_ascii=False) + "\n"
