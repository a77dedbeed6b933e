"""Numbers that a program is run with: written out, or the default of a command line option."""

from __future__ import annotations

from typing import Any

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Attribute, Call, Const, Value, constant, resolved


def setting(program: Program, value: Value | None) -> Any:
    """The constant that a value has when nobody changes it on the command line; None when that cannot be told."""
    if value is None:
        return None
    value = resolved(value)
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Attribute):
        parsed = resolved(value.base)
        if isinstance(parsed, Call) and parsed.method == "parse_args" and parsed.receiver is not None:
            return _option_defaults(program).get((id(resolved(parsed.receiver)), value.name))
    return None


def number(program: Program, value: Value | None) -> float | None:
    """The number that a value has when nobody changes it on the command line."""
    found = setting(program, value)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


@once
def _option_defaults(program: Program) -> dict[tuple[int, str], Any]:
    """Defaults of `parser.add_argument("--lr", default=…)`, by parser and name of the option."""
    defaults: dict[tuple[int, str], Any] = {}
    for event in program.methods_of("add_argument"):
        call = event.call
        if call.receiver is None or "default" not in call.keywords:
            continue
        names = [constant(name) for name in call.args]
        destination = constant(call.keywords.get("dest")) or _destination(names)
        if destination:
            defaults[(id(resolved(call.receiver)), destination)] = constant(call.keywords["default"])
    return defaults


def _destination(names: list[Any]) -> str:
    texts = [name for name in names if isinstance(name, str)]
    long = next((name for name in texts if name.startswith("--")), texts[0] if texts else "")
    return long.lstrip("-").replace("-", "_")
