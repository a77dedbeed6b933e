"""Scores made of probabilities, where they are given to the loss: for a function that nobody can take away, as it is written by hand."""

from __future__ import annotations

from netmend.changes.case import Case
from netmend.changes.loss.losses import arguments, criterion_of
from netmend.changes.network.output_uses import once
from netmend.diagnose.measures.heads import Head
from netmend.program.source.writing import wrap
from netmend.vocabulary import LossFact
from netmend.vocabulary.change import FileEdits

# The softmax of the logarithms of probabilities is these probabilities; what else reads them stays as it is.
_LOGARITHM = ".clamp_min(1e-8).log()"


def scores_again(case: Case, head: Head) -> FileEdits:
    """The logarithm around what cross entropy is given, in every call that was seen with probabilities or not seen at all."""
    criterion = criterion_of(case, head.loss)
    if criterion is None or criterion.kind != "cross_entropy":
        return ()
    if head.class_axis not in head.given.normalised_axes or (head.width or 0) < 2:
        return ()
    edits: FileEdits = ()
    for file, call in criterion.calls:
        pair, fact = arguments(call), criterion.facts.get(call)
        if pair is not None and (fact is None or _takes_probabilities(fact, head.class_axis)):
            edits = (*edits, *wrap(file, pair[0], "", _LOGARITHM))
    return once(edits)


def _takes_probabilities(fact: LossFact, axis: int) -> bool:
    return any(operand.role == "prediction" and axis in operand.normalised_axes for operand in fact.operands)
