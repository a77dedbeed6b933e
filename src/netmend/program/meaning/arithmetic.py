"""All arithmetic of a program, once for each place in the text."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Collection, Item, Operation, Value
from netmend.program.meaning.operations import parts_of, reached


@once
def operations(program: Program) -> tuple[Operation, ...]:
    """All arithmetic that happens, once for each place in the text."""
    seen: set[int] = set()
    found: list[Operation] = []
    known: set[int] = set()

    def parts(value: Value) -> Iterator[Value]:
        yield from (part for part in parts_of(value) if id(part) not in known)
        if isinstance(value, Item) and not (
            isinstance(value.key, Operation | Collection) and id(value.key) in known
        ):
            yield value.key

    for event in program.events:
        if id(event.value) in known:
            continue
        for value in reached(event.value, parts):
            known.add(id(value))
            if isinstance(value, Operation) and value.node is not None and id(value.node) not in seen:
                seen.add(id(value.node))
                found.append(value)
    return tuple(found)
