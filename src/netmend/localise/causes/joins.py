"""Tables that were joined wrongly."""

from __future__ import annotations

from netmend.diagnose.detectors.joins import CopiesByJoin, KeysApartBySpelling
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.vocabulary import PreparationFact, Symptom

_TOGETHER = {
    "type": "Give both keys one type before the join: `.astype(str)`.",
    "spaces": "Take the spaces off both keys before the join: `.str.strip()`.",
    "case": "Write both keys alike before the join: `.str.strip().str.lower()`.",
    "zeros": "Give both keys the same number of digits before the join: `.astype(str).str.zfill({width})`.",
    "decimals": 'Make whole numbers of both keys before the join: `.astype("Int64").astype(str)`.',
    "signs": 'Bring both keys to letters and digits before the join: `.str.lower().str.replace(r"[^0-9a-z]", "", regex=True)`.',
}


@accuses("PRE-WRONG-STEP", KeysApartBySpelling)
def keys_spelled_apart(case: Case, symptom: Symptom) -> Accusation:
    """Keys of two tables mean the same and are spelled differently, so a join does not find the partners.

    What the other table says about these rows is lost: they stay empty, are filled with a constant, or fall out. Bring both keys into one form
    before the join, and look at how many rows find no partner.
    """
    fact = case.trace.get(PreparationFact, symptom.component)
    examples = fact.seen.get("spelled", ()) if fact is not None else ()
    width = max((len(part) for pair in examples for part in str(pair).split(" / ")), default=4)
    lost = (
        "fall out of the table"
        if symptom.detail.get("how") == "inner"
        else "get nothing from the other table"
    )
    return Accusation(
        PROVEN + 1.0,
        reason=f"Keys that are spelled differently are different keys; these rows {lost}, and what is filled in hides it.",
        remedy=_TOGETHER[str(symptom.detail["spelling"])].format(width=width),
        refutation="Keys that look alike stand for different things.",
    )


@accuses("PRE-WRONG-STEP", CopiesByJoin)
def rows_multiplied_by_join(case: Case, symptom: Symptom) -> Accusation:
    """A join with a table that holds keys several times multiplies rows, and the copies end up in training and evaluation.

    The score then says how well the network remembers rows it was trained on. Keep one row of each key before the join, or divide the data by the
    key, so that all copies are on one side.
    """
    fact = case.trace.get(PreparationFact, symptom.component)
    names = [str(name) for name in fact.seen.get("on", ())] if fact is not None else []
    key = repr(names[0] if len(names) == 1 else names) if names else "key"
    return Accusation(
        PROVEN + 2.0,
        reason="The right table holds keys several times, so each row on the left comes out once for each of them, with the same target.",
        remedy=f'Keep one row of each key of the right table before the join, `right.drop_duplicates({key}, keep="last")`, and let pandas check it: `validate="many_to_one"`.',
        refutation="Each row of the right table is a sample of its own, and rows of one key are kept in one part.",
        explains=("D309", "D840"),  # the copies are one row, however they are divided
    )
