"""Faults of which samples are trained on, and in which order."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator

from netmend.changes.case import Case
from netmend.changes.data.data_holders import Holder, pairs
from netmend.changes.data_edits import is_made, part_of, put, rows
from netmend.changes.loop.loop_code import loops_around, reached_from, spots
from netmend.changes.network.heads_in_source import head_of
from netmend.changes.row_edits import chosen_rows, only_trains, takes_one_input
from netmend.diagnose.measures.batches import training_loader, training_samples
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, LOG_PROBABILITIES, PROBABILITIES, STACK
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.program.source.naming import imports, new_variable, spelled
from netmend.program.source.values import set_argument
from netmend.program.source.writing import replace, wrap
from netmend.program.text.queries import last_name
from netmend.testing.example import changed
from netmend.vocabulary.change import FileEdits


class DataCut(Graded, code="M503", causes=("DAT-LITTLE",), published=("TRD", "DM")):
    """Train on a handful of samples.

    The network learns them by heart; what it does elsewhere is left to chance. The number of epochs stays, so there are
    fewer updates, too.
    """

    only_turned = True  # else rows of evaluation would be taken away as well
    shares: tuple[float, ...] = (0.1, 0.03)
    least: int = 12

    def propose(self, case: Case) -> Iterator[Mutation]:
        samples = training_samples(case.trace)
        if samples is None or samples < 2 * self.least:
            return
        for share in self.shares:
            count = max(self.least, round(samples * share))
            edits = _of_loader(case, count) or _of_names(case, count)
            yield from self.mutation(f"{count} of {samples} training samples", edits)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the training samples that is gone, from 0 to nearly 1."""
        samples = training_samples(case.trace)
        if samples is not None and samples >= 2 * self.least:
            yield from self.knob(
                "less training data",
                Scale(0.0, 1 - max(0.01, self.least / samples), 0.05),
                lambda share: chosen_rows(case, round(samples * (1 - share)), repeated=False),
                told=lambda share: f"{share:.0%} of the training samples are gone",
            )

    EXAMPLES = {
        "of a loader": changed(
            STACK,
            "DataLoader(⟨TensorDataset(x, y) → torch.utils.data.Subset(TensorDataset(x, y), range(12))⟩, ",
        ),
        "of names": changed(PROBABILITIES, "⟨ → inputs, labels = inputs[:12], labels[:12]\n⟩for step in"),
        "of one statement": changed(LOG_PROBABILITIES, "⟨ → x, y = x[:12], y[:12]\n⟩for epoch in"),
    }


def _of_loader(case: Case, count: int) -> FileEdits:
    loader = training_loader(case.trace)
    found = None if loader is None else case.code.call_at(loader.created)
    if loader is None or found is None or "Random" not in loader.sampler or "Weighted" in loader.sampler:
        return ()
    file, call = found
    data = case.code.sources.argument(call, "dataset", 0)
    if data is None:
        return ()
    name, extra = spelled(file, "torch.utils.data.Subset")
    around = wrap(file, data, f"{name}(", f", range({count}))")
    return (*around, *extra) if around else ()


def _of_names(case: Case, count: int) -> FileEdits:
    if training_loader(case.trace) is not None:
        return ()
    given, wanted = next(rows(case), (None, None))
    if given is None or wanted is None:
        return ()
    x, y = given.name, wanted.name
    line = f"{x}, {y} = {x}[:{count}], {y}[:{count}]" if x != y else f"{x} = {x}[:{count}]"
    return put(given, line, beside=wanted)


class DataRepeated(Graded, code="M513", causes=("DAT-LOWQ",), published=("DR",)):
    """Fill the training data with copies of some of its samples, with as many updates as before.

    The network sees the same few samples again and again and learns them by heart.
    """

    shares: tuple[float, ...] = (0.5, 0.25, 0.1)  # of the samples that are left
    least: int = 6

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The number of different training samples, from all down to 6."""
        samples = training_samples(case.trace)
        if samples is not None and samples >= 4 * self.least:
            yield from self.knob(
                "copies in the place of other samples",
                Scale(samples, self.least, 1.3, logarithmic=True, whole=True),
                lambda kept: chosen_rows(case, int(kept), repeated=True),
                told=f"{{}} of {samples} training samples, the others are copies",
            )

    def values_for(self, knob: Knob) -> Iterable[float]:
        return dict.fromkeys(round(knob.scale.mildest * share) for share in self.shares)

    EXAMPLES = {
        "of a loader": changed(
            STACK,
            "DataLoader(⟨TensorDataset(x, y) → torch.utils.data.Subset(TensorDataset(x, y), "
            "torch.randperm(48, "
            "generator=torch.Generator().manual_seed(0))[:12].repeat(4)[:48].tolist())⟩, ",
            nth=1,
        ),
        "of names": changed(
            PROBABILITIES,
            "⟨ → chosen = torch.randperm(len(inputs), "
            "generator=torch.Generator().manual_seed(0))[:16].repeat(2)[:32]\n"
            "inputs, labels = inputs[chosen], labels[chosen]\n"
            "⟩for step in",
        ),
    }


class DataSorted(Operator, code="M507", causes=("API-SHUFFLE-POS",), published=("DF",)):
    """Train on data that is sorted by its targets, in that order.

    Each stretch of batches tells of one class only, and what was learned before is forgotten.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        in_order = _in_order(case)
        first = next(
            (both for both in pairs(case) if is_made(case, both[0]) and all(map(_is_assignable, both))), None
        )
        # What is cut into training and test data later would be cut by class; other inputs would stay in their order.
        if first is None or not only_trains(case, first[0]) or not takes_one_input(case):
            return
        head = head_of(case)
        shape = () if head is None or head.target is None else head.target.shape
        if not in_order or math.prod(shape[1:]) != 1:
            return
        given, wanted = first
        x, y, order = part_of(given), part_of(wanted), new_variable(wanted.file, "order", "by_target")
        if x == y:
            return
        lines = (f"{order} = {y}.argsort(0).reshape(-1)", f"{x}, {y} = {x}[{order}], {y}[{order}]")
        edits = (*put(given, *lines, beside=wanted), *in_order)
        yield from self.mutation("sorted data, not shuffled", edits, component=x)

    EXAMPLES = {
        "by hand": changed(
            FUNCTIONS,
            "torch.⟨randperm → arange⟩(len(x))",
            "    ⟨ → by_target = y.argsort(0).reshape(-1)\n"
            "    x, y = x[by_target], y[by_target]\n"
            "    ⟩train(net, x, y",
        ),
        "all data at once": changed(PROBABILITIES),
        "test data is cut from the same names": changed(CUT_LATER),
    }


def _is_assignable(held: Holder) -> bool:
    return held.part is None or isinstance(held.part.slice, ast.Slice)


def _in_order(case: Case) -> FileEdits:
    """Without shuffling: of the loader, or of the permutation that the loop draws."""
    loader = training_loader(case.trace)
    if loader is not None:
        if not loader.shuffle or loader.sampler != "RandomSampler":
            return ()
        return set_argument(case.code, loader.created, "shuffle", "False", 2, case.arguments).edits
    step = next(iter(spots(case, "step")), None)
    if step is None:
        return ()
    for file, node in reached_from(case.code, step.file, step.call):
        for loop in loops_around(file, node):
            for call in file.calls("randperm", "permutation", inside=loop):
                if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
                    package = imports(file).get(_root(call.func), "torch")
                    name, extra = spelled(
                        file, "numpy.arange" if package.startswith("numpy") else "torch.arange"
                    )
                    count = file.source(call.args[0])
                    return (*replace(file, call, f"{name}({count})"), *extra)
    return ()


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return last_name(node)
