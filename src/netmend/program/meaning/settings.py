"""Numbers that a program is run with: written out, or the default of a command line option; how options are described."""

from __future__ import annotations

from typing import Any

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Attribute, Call, Const, Value, constant, resolved
from netmend.program.meaning.roles import same

_PARSERS = ("parse_args", "parse_known_args")


def number(program: Program, value: Value | None) -> float | None:
    """The number that a value has when nobody changes it on the command line."""
    option = _option(program, value)
    found = constant(option.keywords.get("default") if option is not None else resolved(value))
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def description(program: Program, value: Value | None) -> str:
    """The help text of a command line option, lower case."""
    option = _option(program, value)
    text = constant(option.keywords.get("help")) if option is not None else ""
    return text.lower() if isinstance(text, str) else ""


def is_same_number(program: Program, one: Value | None, other: Value | None) -> bool:
    """Do two expressions give the same number, as far as the text tells?"""
    if one is None or other is None:
        return False
    both_fixed = isinstance(resolved(one), Const) and isinstance(resolved(other), Const)
    first = number(program, one)
    return same(one, other) or (both_fixed and first is not None and first == number(program, other))


def _option(program: Program, value: Value | None) -> Call | None:
    """The `add_argument` call behind `args.epochs`."""
    value = resolved(value)
    made = resolved(value.base) if isinstance(value, Attribute) else None
    if not isinstance(value, Attribute) or not isinstance(made, Call) or made.method not in _PARSERS:
        return None
    return _options(program).get((id(resolved(made.receiver)), value.name))


@once
def _options(program: Program) -> dict[tuple[int, str], Call]:
    """Options by their parser and the name that they are read under."""
    found: dict[tuple[int, str], Call] = {}
    for event in program.methods_of("add_argument"):
        call = event.call
        name = constant(call.keywords.get("dest")) or _destination([constant(name) for name in call.args])
        found[(id(resolved(call.receiver)), name)] = call
    return found


def _destination(names: list[Any]) -> str:
    """`batch_size` of `--batch-size`: the first long name, else the first."""
    texts = [name for name in names if isinstance(name, str)]
    long = next((name for name in texts if name.startswith("--")), texts[0] if texts else "")
    return long.lstrip("-").replace("-", "_")
