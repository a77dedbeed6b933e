"""A trace that was recorded elsewhere, with the places of this machine in it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from netmend.trials.trial import Outcome
from netmend.vocabulary import Trace

Value = TypeVar("Value")


def relocated(trace: Trace, outcome: Outcome) -> Trace:
    """Sites in the folder that the outcome names, wherever the trial really ran."""
    there = trace.run.working_directory
    if not there or not outcome.root or there == outcome.root:
        return trace
    return moved(trace, there, outcome.root)


def moved(value: Value, old: str, new: str) -> Value:
    """The same data with one folder's name exchanged, in file names and nowhere else."""
    result: Any = value
    if isinstance(value, str):
        result = new + value[len(old) :] if value == old or value.startswith(f"{old}/") else value
    elif is_dataclass(value) and not isinstance(value, type):
        changes = {}
        for item in fields(value):
            before = getattr(value, item.name)
            after = moved(before, old, new)
            if after is not before:
                changes[item.name] = after
        result = replace(value, **changes) if changes else value
    elif isinstance(value, tuple):
        items = [moved(item, old, new) for item in value]
        if any(a is not b for a, b in zip(items, value, strict=True)):
            result = tuple(items)
    elif isinstance(value, dict):
        pairs = {key: moved(item, old, new) for key, item in value.items()}
        if any(pairs[key] is not value[key] for key in value):
            result = pairs
    return result  # type: ignore[no-any-return]
