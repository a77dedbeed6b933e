"""M612."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.diagnose.measures.data import training_loader
from netmend.mutate.examples import STACK, VALIDATED
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.names_of_object import names_of
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.repair.repair import Case, Example
from netmend.vocabulary import LoaderFact
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class ValidationRemoved:
    """Validate on the training data instead of the held-out data.

    Early stopping, schedules and the choice of the best weights follow a loss that knows nothing of overfitting.
    """

    code: ClassVar[str] = "M612"
    causes: ClassVar[tuple[str, ...]] = ("VAL-SET-MISSING",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("VRM",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        rounds, training = epoch_rounds(case), training_loader(case.trace)
        if rounds is None or training is None:
            return
        trained = _named(case, training, rounds.file)
        for loader in case.trace.loaders:
            held_out = _named(case, loader, rounds.file) if loader.created != training.created else set()
            edits = _exchanged(rounds.file, rounds.loop, held_out, trained)
            yield from mutation(self, "validated on the training data", edits, component=loader.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "in the loop, not in the last test",
            VALIDATED,
            old="loss_on(val_loader)",
            new="loss_on(train_loader)",
        ),
        Example("nothing is held out", STACK),
    )


def _named(case: Case, loader: LoaderFact, file: File) -> set[str]:
    return {name.text for name in names_of(case.code, loader.created) if name.file is file}


def _exchanged(file: File, loop: ast.stmt, held_out: set[str], trained: set[str]) -> FileEdits:
    """The names of one loader by that of the other, within the loop over epochs; it must be known there."""
    names = [node for node in ast.walk(loop) if isinstance(node, ast.Name | ast.Attribute)]
    used = [name for node in names if (name := file.source(node)) in trained]
    wrong = [node for node in names if file.source(node) in held_out - trained]
    if not used or not wrong:
        return ()
    return tuple(edit for node in wrong for edit in replace(file, node, used[0]))
