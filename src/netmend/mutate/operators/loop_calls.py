"""Calls that are missing from the training loop, or in the wrong mode or place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.changes.loop.loop_code import loops_around, spots
from netmend.diagnose.measures.batches import training_loader
from netmend.diagnose.measures.loop import mode_layers
from netmend.mutate.examples import FUNCTIONS, PROBABILITIES, STACK, VALIDATED
from netmend.mutate.mutation import Mutation, Operator
from netmend.program.source.moving import moved_before, taken_out
from netmend.program.source.names_of_object import names_of
from netmend.program.source.writing import replace, united
from netmend.program.text.file import File, block_of
from netmend.program.text.queries import inside
from netmend.testing.example import changed
from netmend.vocabulary import LoaderFact
from netmend.vocabulary.change import FileEdits


class ZeroGradRemoved(Operator, code="M601", causes=("LOOP-ZERO-GRAD",)):
    """Never clear the gradients, or only once before the loop.

    Every step follows the sum of all gradients so far.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        places = [each for each in spots(case, "zero_grad") if each.is_alone]
        if len(places) != 1 or len(spots(case, "zero_grad")) != 1:
            return
        place = places[0]
        loops = loops_around(place.file, place.call)
        if loops:
            edits = moved_before(place.file, place.statement, loops[0])
            yield from self.mutation(
                "gradients are cleared outside the loop over batches", edits, component=place.receiver
            )
        yield from self.mutation(
            "gradients are never cleared", taken_out(place.file, place.statement), component=place.receiver
        )

    EXAMPLES = {
        "never": changed(STACK, "⟨        optimizer.zero_grad()\n → ⟩", nth=1),
        "once per epoch": changed(
            FUNCTIONS,
            "        ⟨ → optimizer.zero_grad()\n        ⟩for i in",
            "⟨            optimizer.zero_grad()\n → ⟩",
        ),
    }


class StepMissing(Operator, code="M602", causes=("LOOP-STEP",)):
    """Leave out the optimiser's step, or make it after the gradients are cleared and before new ones are computed.

    The weights never move.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        steps = spots(case, "step")
        if len(steps) != 1 or not steps[0].is_alone:
            return
        step = steps[0]
        edits = taken_out(step.file, step.statement)
        yield from self.mutation("the optimiser's step is missing", edits, component=step.receiver)
        takes = [each for each in spots(case, "backward") if each.is_beside(step)]
        clears = [each for each in spots(case, "zero_grad") if each.is_beside(step)]
        if len(takes) != 1 or len(clears) != 1:
            return
        block = block_of(step.file, step.statement)
        order = [clears[0].statement, takes[0].statement, step.statement]
        if all(each in block for each in order) and sorted(order, key=block.index) == order:
            moved = moved_before(step.file, step.statement, takes[0].statement)
            yield from self.mutation("the step comes before the gradient", moved, component=step.receiver)

    EXAMPLES = {
        "left out": changed(STACK, "⟨        optimizer.step()\n → ⟩"),
        "too early": changed(
            STACK,
            "        ⟨loss.backward()\n        optimizer.step → optimizer.step()\n        loss.backward⟩()\n",
            nth=1,
        ),
        "in a function": changed(FUNCTIONS, "⟨            optimizer.step()\n → ⟩"),
    }


class BackwardMissing(Operator, code="M603", causes=("LOOP-BACKWARD",), crashes=True):
    """Leave out the call that computes the gradients.

    The optimiser has nothing to follow.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        places = spots(case, "backward")
        if len(places) == 1 and places[0].is_alone:
            edits = taken_out(places[0].file, places[0].statement)
            yield from self.mutation("backward() is missing", edits, component=places[0].receiver)

    EXAMPLES = {"left out": changed(STACK, "⟨        loss.backward()\n → ⟩")}


class TrainedInEvaluationMode(Operator, code="M604", causes=("LOOP-MODE-TRAIN",)):
    """Train in evaluation mode: `train()` is missing after an evaluation, or `eval()` stands in its place.

    Dropout is off, and batch norm never gets the statistics of its data.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        models = [model.name for model in case.trace.models if mode_layers(case.trace, model.name)]
        places = [
            each for each in spots(case, "train") if each.is_alone and not each.call.args and each.receiver
        ]
        if not models or len(places) != 1:
            return
        place = places[0]
        if spots(case, "eval"):
            edits = taken_out(place.file, place.statement)
            yield from self.mutation("train() is missing", edits, component=models[0])
        edits = replace(place.file, place.call, f"{place.receiver}.eval()")
        yield from self.mutation("eval() before training", edits, component=models[0])

    EXAMPLES = {
        "left out": changed(STACK, "⟨    model.train()\n → ⟩"),
        "exchanged": changed(STACK, "model.⟨train → eval⟩()", nth=1),
        "no layer knows modes": changed(PROBABILITIES),
    }


class EvaluatedInTrainingMode(Operator, code="M605", causes=("LOOP-MODE-EVAL",)):
    """Evaluate without `eval()`.

    Dropout disturbs the answers, and batch norm takes its statistics from the data that is asked about.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        models = [model.name for model in case.trace.models if mode_layers(case.trace, model.name)]
        places = spots(case, "eval")
        if models and places and all(each.is_alone for each in places):
            edits = united(taken_out(each.file, each.statement) for each in places)
            yield from self.mutation("eval() is missing", edits, component=models[0])

    EXAMPLES = {
        "left out": changed(STACK, "⟨    model.eval()\n → ⟩"),
        "no layer knows modes": changed(PROBABILITIES),
    }


class ValidationRemoved(Operator, code="M612", causes=("VAL-SET-MISSING",), published=("VRM",)):
    """Validate on the training data instead of the held-out data.

    Early stopping, schedules and the choice of the best weights follow a loss that knows nothing of overfitting.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        rounds, training = epoch_rounds(case), training_loader(case.trace)
        if rounds is None or training is None:
            return
        trained = _named(case, training, rounds.file)
        for loader in case.trace.loaders:
            held_out = _named(case, loader, rounds.file) if loader.created != training.created else set()
            edits = _exchanged(rounds.file, rounds.loop, held_out, trained)
            yield from self.mutation("validated on the training data", edits, component=loader.name)

    EXAMPLES = {
        "in the loop, not in the last test": changed(VALIDATED, "loss_on(⟨val_loader → train_loader⟩)"),
        "nothing is held out": changed(STACK),
    }


def _named(case: Case, loader: LoaderFact, file: File) -> set[str]:
    return {name.text for name in names_of(case.code, loader.created) if name.file is file}


def _exchanged(file: File, loop: ast.stmt, held_out: set[str], trained: set[str]) -> FileEdits:
    """The names of one loader by that of the other, within the loop over epochs; it must be known there."""
    names = list(inside(loop, ast.Name, ast.Attribute))
    used = [name for node in names if (name := file.source(node)) in trained]
    wrong = [node for node in names if file.source(node) in held_out - trained]
    if not used or not wrong:
        return ()
    return tuple(edit for node in wrong for edit in replace(file, node, used[0]))
