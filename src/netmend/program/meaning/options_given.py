"""Numbers that a program takes from the command line: what they are by default, and how they are described."""

from __future__ import annotations

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Attribute, Call, Const, Value, constant, resolved

_PARSERS = ("parse_args", "parse_known_args")


def number(program: Program, value: Value | None) -> float | None:
    """A number that is written in the program, or the default of an `argparse` option."""
    value = resolved(value)
    if isinstance(value, Attribute):
        option = _option(program, value)
        value = option.keywords.get("default") if option is not None else None
    found = value.value if isinstance(value, Const) else None
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def description(program: Program, value: Value | None) -> str:
    """The help text of an `argparse` option, lower case."""
    value = resolved(value)
    option = _option(program, value) if isinstance(value, Attribute) else None
    text = constant(option.keywords.get("help")) if option is not None else ""
    return text.lower() if isinstance(text, str) else ""


def is_same_number(program: Program, one: Value | None, other: Value | None) -> bool:
    """Do two expressions give the same number, as far as the text tells?"""
    from netmend.program.meaning.roles import same

    if one is None or other is None:
        return False
    if same(one, other):
        return True
    first, second = number(program, one), number(program, other)
    both_fixed = isinstance(resolved(one), Const) and isinstance(resolved(other), Const)
    return both_fixed and first is not None and first == second


def _option(program: Program, value: Attribute) -> Call | None:
    """The `add_argument` call behind `args.epochs`."""
    made = resolved(value.base)
    if not isinstance(made, Call) or made.method not in _PARSERS:
        return None
    return _options(program).get((id(resolved(made.receiver or made)), value.name))


@once
def _options(program: Program) -> dict[tuple[int, str], Call]:
    found: dict[tuple[int, str], Call] = {}
    for event in program.methods_of("add_argument"):
        call = event.call
        if call.receiver is None:
            continue
        names = [constant(argument) for argument in call.args]
        long = [name for name in names if isinstance(name, str) and name.startswith("--")]
        plain = [name for name in names if isinstance(name, str) and not name.startswith("-")]
        name = constant(call.keywords.get("dest")) or next(iter([*long, *plain]), "")
        found[(id(resolved(call.receiver)), str(name).lstrip("-").replace("-", "_"))] = call
    return found
