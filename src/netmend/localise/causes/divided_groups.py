"""Parts that share persons, recordings or objects."""

from __future__ import annotations

from netmend.diagnose.detectors.divided_groups import GroupsInBothParts
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.program.meaning.random_splits import random_splits
from netmend.program.of_run import program_of
from netmend.vocabulary import Site, Symptom


@accuses("VAL-SPLIT", GroupsInBothParts)
def groups_in_both_parts(case: Case, symptom: Symptom) -> Accusation:
    """The parts share persons, recordings or objects.

    Rows of one person look alike and have the same answer. Divided row by row, nearly every person of the test part has been trained on: the score
    measures how well they are recognised again. Draw persons, and let all rows of one go to the same part.
    """
    seen = symptom.detail
    identity = seen["identity"]
    if seen["of_files"]:
        way = "Draw the beginnings of the file names (the stem without its last part) and let all files of one go to the same part"
    elif seen["call"].startswith("sklearn."):
        way = f"Divide with GroupShuffleSplit or GroupKFold: `split(X, y, groups={identity})`, where `{identity}` has one value for each row"
    else:
        way = f"Draw from the different values of `{identity}` and pick rows by them: `held = rng.permutation({identity}.unique())[:n]`, `test = {identity}.isin(held)`"
    return Accusation(
        PROVEN + 1.0,
        reason="A network that recognises whom it has been trained on answers such test rows without knowing anything about the task.",
        remedy=f"{way}.",
        refutation=f"The score stays the same on rows of `{identity}` values that were not trained on, or only known ones are ever asked about.",
        summary=symptom.message,
        site=_drawn_at(case) if seen["call"] in _BY_VARIABLES else None,
    )


_BY_VARIABLES = (
    "lists",
    "mask",
    "row numbers",
)  # parts that were seen in variables, not where they were drawn


def _drawn_at(case: Case) -> Site | None:
    """The line that draws, where the source has one alone."""
    program = program_of(case.sources).of(case.sources.script) if case.sources.script else None
    drawn = {id(split.node): split.node for split in random_splits(program)} if program is not None else {}
    if program is None or len(drawn) != 1:
        return None
    place = program.place(next(iter(drawn.values())))
    return Site(place.file, place.line)
