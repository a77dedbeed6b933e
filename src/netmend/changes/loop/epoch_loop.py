"""How often the training step is made: the loop over epochs, and edits that let it run longer."""

from __future__ import annotations

import math

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import loops_around, spots
from netmend.program.counted_loops import Rounds, training_rounds
from netmend.program.of_run import program_of
from netmend.program.source.numbers import number
from netmend.program.source.values import Faces, set_value
from netmend.program.text.queries import site_of


def epoch_rounds(case: Case) -> Rounds | None:
    """The outermost counted loop around the training step that does not start the whole experiment anew."""
    place = next(iter((*spots(case, "step"), *spots(case, "backward"))), None)
    step = None if place is None else site_of(place.file.file, place.call)
    return training_rounds(program_of(case.sources), case.trace, step)


def more_rounds(case: Case, factor: float) -> tuple[str, Faces]:
    """So many times as many rounds, in words and as edits; nothing where their number is not known."""
    rounds = epoch_rounds(case)
    present = None if rounds is None else number(case.code, rounds.file, rounds.count, case.arguments)
    if rounds is None or present is None or present - rounds.start < 1 or _is_over_batches(case, rounds):
        return "", Faces()
    whole = round(present) - rounds.start
    wanted = math.ceil(whole * factor)
    faces = set_value(case.code, rounds.file, rounds.count, str(wanted + rounds.start), case.arguments)
    return f"{whole} → {wanted} epochs", faces


def _is_over_batches(case: Case, rounds: Rounds) -> bool:
    """Whether the counted loop is the innermost one around the step."""
    step = next(iter(spots(case, "step")), None)
    return step is not None and rounds.loop in loops_around(step.file, step.call)[:1]
