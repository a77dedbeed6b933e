"""Faults of labels and of the balance of classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netmend.changes.case import Case
from netmend.changes.data.data_holders import Holder, is_array
from netmend.changes.data_edits import part_of, put, random_rows, rows, targets
from netmend.changes.network.heads_in_source import head_of
from netmend.changes.row_edits import Labels, chances, free_rows, labels, noisy, only_trains, shifts
from netmend.diagnose.measures.batches import label_counts
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import FUNCTIONS, PROBABILITIES, STACK
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation
from netmend.program.source.naming import new_variable, spelled
from netmend.testing.example import changed
from netmend.vocabulary.change import FileEdits

_SHARE = Scale(0.0, 1.0, 0.05)


class LabelsWrong(Graded, code="M501", causes=("DAT-LABEL",), published=("TCL", "LE")):
    """Shuffle a part of the training labels, or all of them.

    What is learned from wrong labels is wrong; with all of them exchanged, inputs and labels have nothing to do with each
    other.
    """

    only_turned = True  # else labels of evaluation would be exchanged as well
    shares: tuple[float, ...] = (0.3, 0.6, 1.0)

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = targets(case)
        if held is None:
            return
        uniform, order, extra = random_rows(held)
        name, mixed = part_of(held), new_variable(held.file, "mixed", "exchanged")
        for share in self.shares:
            lines = [f"{name}[:] = {name}[{order}(len({name}))]"]
            if share < 1:
                lines = [
                    f"{mixed} = {uniform}(len({name})) < {share:g}",
                    f"{name}[{mixed}] = {name}[{mixed}][{order}(int({mixed}.sum()))]",
                ]
            title = f"{share:.0%} of the labels in {held.name} exchanged"
            yield from self.mutation(title, (*put(held, *lines), *extra), component=held.name)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of all labels that is exchanged, from 0 to 1."""
        held = targets(case)
        if held is None or not only_trains(case, held):
            return
        name, mixed = part_of(held), new_variable(held.file, "mixed", "exchanged")
        drawn, extra = chances(held, f"len({name})")

        def edits(share: float) -> FileEdits:
            # The chosen ones in reverse order: nothing more has to be drawn.
            if is_array(held.flow, held):
                first = f"{mixed} = ({drawn} < {share:g}).nonzero()[0]"
                second = f"{name}[{mixed}] = {name}[{mixed}[::-1]]"
            else:
                first = f"{mixed} = ({drawn} < {share:g}).nonzero().flatten()"
                second = f"{name}[{mixed}] = {name}[{mixed}.flip(0)]"
            return (*put(held, first, second), *extra)

        yield from self.knob(
            f"labels in {held.name} exchanged",
            _SHARE,
            edits,
            component=held.name,
            told=lambda share: f"{share:.0%} of the labels in {held.name} exchanged",
        )

    EXAMPLES = {
        "a part": changed(
            STACK,
            "⟨ → mixed = torch.rand(len(y)) < 0.3\n"
            "y[mixed] = y[mixed][torch.randperm(int(mixed.sum()))]\n"
            "⟩loader = ",
        ),
        "all of them": changed(
            FUNCTIONS, "    ⟨ → y[:] = y[torch.randperm(len(y))]\n    ⟩train(net, ", nth=2
        ),
    }


class LabelsFalsified(Graded, code="M511", causes=("DAT-LABEL",), published=("TCL",)):
    """Mislabel a part of one class, or add noise to real-valued targets.

    What is learned about that class is wrong, while the others stay as they are.
    """

    values: tuple[float, ...] = (0.25, 0.5, 1.0)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the largest class's labels that is wrong, from 0 to 1; of amounts, the noise in standard deviations."""
        found, head, held = labels(case), head_of(case), targets(case)
        if found is not None:
            yield from self._of_class(found)
        elif head is not None and held is not None and head.loss.criterion in DISTANCES:
            yield from self._of_amounts(held) if only_trains(case, held) else ()

    def _of_class(self, found: Labels) -> Iterator[Knob]:
        attacked = found.most_frequent()[0]
        name, count = found.name, len(found.counts)
        wrong = new_variable(found.held.file, "wrong", "falsified")
        moved = new_variable(found.held.file, "shift", "moved_by")
        drawn, first = chances(found.held, f"{name}.shape")
        by, second = shifts(found.held, f"{name}.shape", count)

        def edits(share: float) -> FileEdits:
            lines = (
                f"{wrong} = ({name} == {attacked}) & ({drawn} < {share:g})",
                f"{moved} = {by}",
                f"{name}[{wrong}] = ({name}[{wrong}] + {moved}[{wrong}]) % {count}",
            )
            return (*put(found.held, *lines), *dict.fromkeys((*first, *second)))

        yield from self.knob(
            f"labels of class {attacked} wrong",
            _SHARE,
            edits,
            component=found.held.name,
            told=lambda share: f"{share:.0%} of the labels of class {attacked} are wrong",
        )

    def _of_amounts(self, held: Holder) -> Iterator[Knob]:
        yield from self.knob(
            f"noise in the targets {held.name}",
            _SHARE,
            lambda size: noisy(held, size),
            component=held.name,
            told=f"noise of {{}} standard deviations in the targets {held.name}",
        )

    EXAMPLES = {
        "one class": changed(
            STACK,
            "⟨ → wrong = (y == 0) & (torch.rand(y.shape, "
            "generator=torch.Generator().manual_seed(0)) < 0.25)\n"
            "shift = torch.randint(1, 2, y.shape, generator=torch.Generator().manual_seed(1))\n"
            "y[wrong] = (y[wrong] + shift[wrong]) % 2\n"
            "⟩loader = ",
        ),
        "amounts": changed(
            FUNCTIONS,
            "    ⟨ → y[:] = y + 1 * y.std() * torch.randn(y.shape, "
            "generator=torch.Generator().manual_seed(0))\n"
            "    ⟩train(net, ",
            nth=2,
        ),
    }


class ClassesOverlap(Graded, code="M512", causes=("DAT-LABEL",), published=("TCO",)):
    """Add copies of samples of one class with the label of another to the training data.

    The same input is said to be both; the two classes can no longer be told apart.
    """

    values: tuple[float, ...] = (0.25, 0.5, 1.0)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the largest class that is copied with the label of the next one, from 0 to 1."""
        found, both = labels(case), free_rows(case)
        if found is None or both is None:
            return
        given, wanted = both
        first, second = found.most_frequent()[:2]
        x, y = given.name, wanted.name
        copied, array = new_variable(given.file, "copied", "overlapping"), bool(is_array(given.flow, given))
        drawn, extra = chances(wanted, f"{y}.shape")
        join, more = spelled(given.file, "numpy.concatenate" if array else "torch.cat")
        like, full = spelled(given.file, "numpy.full_like" if array else "torch.full_like")

        def edits(share: float) -> FileEdits:
            lines = (
                f"{copied} = (({y} == {first}) & ({drawn} < {share:g})).reshape(-1)",
                f"{x}, {y} = {join}([{x}, {x}[{copied}]]), {join}([{y}, {like}({y}[{copied}], {second})])",
            )
            return (*put(given, *lines, beside=wanted), *dict.fromkeys((*extra, *more, *full)))

        yield from self.knob(
            f"class {first} also labelled {second}",
            _SHARE,
            edits,
            component=y,
            told=lambda share: f"{share:.0%} of class {first} again with the label {second}",
        )

    EXAMPLES = {
        "no is also yes": changed(
            PROBABILITIES,
            "⟨ → copied = ((labels == 0) & (torch.rand(labels.shape, "
            "generator=torch.Generator().manual_seed(0)) < 0.25)).reshape(-1)\n"
            "inputs, labels = torch.cat([inputs, inputs[copied]]), torch.cat([labels, "
            "torch.full_like(labels[copied], 1)])\n"
            "⟩for step in",
        ),
        "amounts": changed(FUNCTIONS),
    }


class ClassesUnbalanced(Graded, code="M502", causes=("DAT-IMBALANCE",), published=("TUD",)):
    """Remove nearly all training samples of some classes.

    What is hardly ever seen is never predicted.
    """

    only_turned = True  # else rows of evaluation would be taken away as well
    kept: tuple[float, ...] = (0.1, 0.02)

    def propose(self, case: Case) -> Iterator[Mutation]:
        counts = label_counts(case.trace)
        if not 2 <= len(counts) <= 50:
            return
        given, wanted = next(rows(case), (None, None))
        if given is None or wanted is None:
            return
        uniform, _, extra = random_rows(wanted)
        name, y = new_variable(wanted.file, "kept", "chosen"), wanted.name
        limit = _first_rare(counts)
        for share in self.kept:
            lines = (
                f"{name} = ({y} < {limit:g}) | ({uniform}(len({y})) < {share:g})",
                f"{given.name}, {y} = {given.name}[{name}], {y}[{name}]",
            )
            yield from self.mutation(
                f"{share:.0%} of the samples of classes from {limit:g} on are left",
                (*put(given, *lines, beside=wanted), *extra),
                component=y,
            )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The share of the samples of half of the classes that is gone, from 0 to 1."""
        counts = label_counts(case.trace)
        both = free_rows(case)
        if not 2 <= len(counts) <= 50 or both is None:
            return
        given, wanted = both
        name, y = new_variable(wanted.file, "kept", "chosen"), wanted.name
        limit = _first_rare(counts)
        drawn, extra = chances(wanted, f"len({y})")

        def edits(share: float) -> FileEdits:
            lines = (
                f"{name} = ({y} < {limit:g}) | ({drawn} >= {share:g})",
                f"{given.name}, {y} = {given.name}[{name}], {y}[{name}]",
            )
            return (*put(given, *lines, beside=wanted), *extra)

        yield from self.knob(
            f"fewer samples of classes from {limit:g} on",
            _SHARE,
            edits,
            component=y,
            told=lambda share: f"{share:.0%} of the samples of classes from {limit:g} on are gone",
        )

    EXAMPLES = {
        "yes or no": changed(
            PROBABILITIES,
            "⟨ → kept = (labels < 1) | (torch.rand(len(labels)) < 0.1)\n"
            "inputs, labels = inputs[kept], labels[kept]\n"
            "⟩for step in",
        ),
        "amounts": changed(FUNCTIONS),
    }


def _first_rare(counts: Mapping[float, int]) -> float:
    """Half of the classes are made rare; of two, the second."""
    return sorted(counts)[max(1, len(counts) // 2)]
