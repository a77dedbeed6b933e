"""Rows that a program makes more of: drawn with replacement, repeated, mixed, or put beside changed copies of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netmend.program.engine.history import CallEvent, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.operations import walk
from netmend.program.meaning.rows import is_part, made_of, rows_of

_JOINS = frozenset(
    ("numpy.concatenate", "numpy.vstack", "numpy.append", "torch.cat", "torch.concat", "torch.vstack", "pandas.concat", "polars.concat")
)  # fmt: skip
_ADDING = ("imblearn.over_sampling.", "imblearn.combine.")
_FILLED = frozenset(("zeros", "ones", "full", "zeros_like", "ones_like", "full_like"))


def copied_within(program: Program, values: Iterable[Value]) -> list[Value]:
    """Calls and lists among values that hold some rows twice, as they were or changed; of those within one another the innermost."""
    found = {id(part): part for value in values for part in _copied(program, value)}
    inner = {key: {id(part) for part in made_of(program, value)} - {key} for key, value in found.items()}
    return [value for key, value in found.items() if not inner[key] & found.keys()]


def _copied(program: Program, value: Value) -> Iterator[Value]:
    if isinstance(value, Call) and value.result is None:
        is_more = _draws_again(value) or _repeats(value) or _joins_copies(program, value)
        if is_more and not any(is_part(program, part) for part in rows_of(program, value)[1:]):
            yield value
    elif isinstance(value, Item):
        chosen = resolved(value.key)
        is_more = isinstance(chosen, Call) and _chooses_again(chosen)
        if is_more and not any(is_part(program, part) for part in rows_of(program, value.base)):
            yield chosen
    elif isinstance(value, Collection) and value.kind == "list":
        yield from _listed_twice(program, value)


def adds_rows(call: Call) -> bool:
    """`SMOTE().fit_resample(X, y)` and its kin."""
    if call.method not in ("fit_resample", "fit_sample"):
        return False
    made = resolved(call.receiver)
    return isinstance(made, Call) and made.qualified.startswith(_ADDING)


def is_balancing(call: Call) -> bool:
    made = resolved(call.receiver)
    return isinstance(made, Call) and made.qualified.startswith("imblearn.")


def _draws_again(call: Call) -> bool:
    if adds_rows(call):
        return True
    if call.qualified == "sklearn.utils.resample":
        return constant(call.keywords.get("replace"), True) is True and not call.open
    is_drawn = call.method == "sample" and call.receiver is not None
    return is_drawn and True in (
        constant(call.keywords.get("replace")),
        constant(call.keywords.get("with_replacement")),
    )


def _chooses_again(call: Call) -> bool:
    """Row numbers drawn with replacement or repeated: `rng.choice(rows, n)`, `df.index.repeat(3)`."""
    if call.method == "repeat" or call.qualified in ("numpy.repeat", "torch.repeat_interleave"):
        return True
    if call.qualified not in ("numpy.random.choice", "random.choices") and call.method not in (
        "choice",
        "choices",
    ):
        return False
    if call.method == "choice" and "random" not in getattr(resolved(call.receiver), "qualified", ""):
        return False
    if call.qualified == "random.choices" or call.method == "choices":
        return True
    many = call.argument("size", 1)
    return many is not None and constant(call.argument("replace", 2), True) is True


def _repeats(call: Call) -> bool:
    """`np.repeat(x, 3, axis=0)`, `x.repeat_interleave(3, dim=0)`, `df.loc[df.index.repeat(3)]`."""
    if call.qualified in ("numpy.repeat", "torch.repeat_interleave"):
        return bool(constant(call.argument("axis", 2) or call.argument("dim", 2)) == 0)
    return call.method == "repeat_interleave" and bool(constant(call.argument("dim", 1)) == 0)


def _joined(value: Value | None) -> list[Value]:
    """What is put one below the other: `[a, b]`, `[a] + [b] * 3` (b twice)."""
    value = resolved(value)
    if isinstance(value, Collection):
        return [] if value.kind == "dict" else list(value.items)
    if isinstance(value, Operation) and len(value.operands) == 2:
        left, right = value.operands
        if value.operator == "+":
            return [*_joined(left), *_joined(right)]
        if value.operator == "*":
            listed = _joined(left) or _joined(right)
            return [*listed, *listed]
    return []


def _is_below(call: Call) -> bool:
    if call.qualified == "polars.concat":
        return constant(call.keywords.get("how"), "vertical") in ("vertical", "vertical_relaxed", "diagonal")
    axis = call.argument("axis", 1) or call.argument("dim", 1)
    if call.qualified == "numpy.append":
        axis = call.argument("axis", 2)
        return bool(constant(axis, 1) == 0)
    return call.qualified.endswith("vstack") or axis is None or constant(axis) in (0, "index")


def _joins_copies(program: Program, call: Call) -> bool:
    """Is a whole array put together with rows that were taken or made from it?"""
    if call.qualified not in _JOINS or not _is_below(call):
        return False
    parts = (
        list(call.args[:2])
        if call.qualified == "numpy.append"
        else _joined(call.args[0] if call.args else None)
    )
    return any(
        one is not other and _is_made_from(program, other, one) for one in parts for other in parts
    ) or any(one is other for place, one in enumerate(parts) for other in parts[:place])


def _is_made_from(program: Program, value: Value, source: Value) -> bool:
    source, value = same_numbers(source), same_numbers(value)
    if isinstance(source, Const) or _is_filled(source):
        return False
    return value is source or any(part is source for part in rows_of(program, value)[1:])


def _is_filled(value: Value) -> bool:
    return isinstance(value, Call) and (value.method or value.qualified).rpartition(".")[2] in _FILLED


def _listed_twice(program: Program, listed: Collection) -> Iterator[Value]:
    """A list that gets a sample and, in the same round, one made from it; or several made from one in a loop of their own."""
    added = [
        event
        for event in program.methods_of("append")
        if resolved(event.call.receiver) is listed and event.call.args
    ]
    for event in added:
        item = event.call.args[0]
        made = rows_of(program, item)
        if any(is_part(program, part) for part in made):
            continue
        plain = (other for other in added if other is not event and before(other, event))
        if any(
            _is_sample(other.call.args[0]) and _is_made_from(program, item, other.call.args[0])
            for other in plain
        ) or _is_made_again(program, event, made):
            yield event.call


def _is_sample(value: Value) -> bool:
    """One of what a loop runs over, or a part of it."""
    value = same_numbers(value)
    while isinstance(value, Item):
        value = resolved(value.base)
    return isinstance(value, Element)


def _is_made_again(program: Program, event: CallEvent, made: list[Value]) -> bool:
    """Is one sample changed and appended in each round of a loop that has no part in which sample it is?"""
    loops = event.loops()
    if len(loops) < 2 or loops[0].iterable is None:
        return False
    source = resolved(loops[0].iterable)
    if not isinstance(source, Call) or source.qualified != "range":
        return False
    outer = resolved(loops[1].iterable)
    inside = list(made_of(program, event.call.args[0]))
    # pieces of one recording are cut by the counter, copies are turned by it
    uses_inner = any(
        isinstance(each, Element) and resolved(each.iterable) is source
        for part in inside
        if isinstance(part, Item)
        for each in walk(part.key)
    )
    changed = isinstance(made[0], Call) and made[0].method != "crop"
    return (
        changed
        and not uses_inner
        and any(isinstance(part, Element) and resolved(part.iterable) is outer for part in made)
    )


def are_labels_kept(program: Program, targets: Value | None) -> bool:
    """Are the targets of joined rows those of real rows, not ones and zeros that say which is which?"""
    for part in rows_of(program, targets)[:6]:
        if isinstance(part, Call) and part.qualified in _JOINS:
            first = _joined(part.args[0] if part.args else None)[:1]
            return not any(_is_filled(same_numbers(each)) for each in first)
    return True
