"""Learning rates of Keras optimizers that are written as numbers."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.library.keras import OPTIMISERS
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.test_code import is_test_code

_NAMES = tuple(f"keras.optimizers.{legacy}{name}" for name in OPTIMISERS for legacy in ("", "legacy."))


def rates(program: Program) -> Iterator[tuple[CallEvent, str, float]]:
    """Every optimizer with a constant rate: where it is made, its name, the rate."""
    for event in program.calls_of(*_NAMES) if not is_test_code(program) else ():
        call = event.call
        given = (
            call.keywords.get("learning_rate") or call.keywords.get("lr") or call.argument("learning_rate", 0)
        )
        rate = constant(given)
        if type(rate) in (int, float):
            yield event, call.qualified.rpartition(".")[2], float(rate)
