"""M503."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data_edits import put, rows
from netmend.changes.row_edits import chosen_rows
from netmend.diagnose.measures.data import training_loader, training_samples
from netmend.mutate.examples import LOG_PROBABILITIES, PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import spelled
from netmend.program.source.writing import wrap
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class DataCut:
    """Train on a handful of samples.

    The network learns them by heart; what it does elsewhere is left to chance. The number of epochs stays, so there are
    fewer updates, too.
    """

    code: ClassVar[str] = "M503"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LITTLE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("TRD", "DM")

    shares: tuple[float, ...] = (0.1, 0.03)
    least: int = 12

    def propose(self, case: Case) -> Iterator[Mutation]:
        samples = training_samples(case.trace)
        if samples is None or samples < 2 * self.least:
            return
        for index, share in enumerate(self.shares, 1):
            count = max(self.least, round(samples * share))
            edits = _of_loader(case, count) or _of_names(case, count)
            yield from mutation(
                self,
                f"{count} of {samples} training samples",
                edits,
                grade=index / len(self.shares),
                parameter=f"{count} samples",
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the training samples that is gone, from 0 to nearly 1."""
        samples = training_samples(case.trace)
        if samples is not None and samples >= 2 * self.least:
            yield from knob(
                self,
                "less training data",
                Scale(0.0, 1 - max(0.01, self.least / samples), 0.05),
                lambda share: chosen_rows(case, round(samples * (1 - share)), repeated=False),
                told=lambda share: f"{share:.0%} of the training samples are gone",
            )

    def others(self, case: Case) -> Iterator[Mutation]:
        """None: where nothing can be turned, rows cannot be taken away without further changes."""
        return iter(())

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "of a loader",
            STACK,
            old="DataLoader(TensorDataset(x, y), ",
            new="DataLoader(torch.utils.data.Subset(TensorDataset(x, y), range(12)), ",
        ),
        Example(
            "of names",
            PROBABILITIES,
            old="for step in",
            new="inputs, labels = inputs[:12], labels[:12]\nfor step in",
        ),
        Example(
            "of one statement",
            LOG_PROBABILITIES,
            old="for epoch in",
            new="x, y = x[:12], y[:12]\nfor epoch in",
        ),
    )


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
