"""Repairs of which samples make a batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.batch_order import first_index, in_random_order, moves
from netmend.changes.data.data_holders import training_inputs, training_targets
from netmend.changes.data.data_origins import Flow
from netmend.diagnose.measures.batches import training_loader
from netmend.program.source.naming import rename_callee
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, variables_in
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import LoaderFact
from netmend.vocabulary.change import Change, FileEdits

_shuffle_example = partial(
    example,
    begin="torch.manual_seed(0)\nx, y = torch.randn(12, 4), torch.arange(12) // 6",
    model="nn.Linear(4, 2)",
    epochs="for epoch in range(2)",
    loop="for a, b in loader",
    backward="nn.functional.cross_entropy(model(a), b)",
)


class Shuffle(Repair, code="R501", cures=("API-SHUFFLE-POS",), knob="training order", explores=True):
    """Draw the training samples in a new random order in every epoch.

    Helps where the data is sorted, by class or by time of recording. It costs nothing, but a program whose order carries meaning
    (a stream, a curriculum) is changed by it.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        loader = self._loader(case)
        if loader is not None:
            title = f"shuffle {loader.name or 'the training data'}"
            yield from self.change(case, title, _shuffled(case, loader))
        elif case.fault is not None and training_loader(case.trace) is None:
            edits = in_random_order(case)
            yield from self.change(case, "draw the batches in random order", edits)

    def _loader(self, case: Case) -> LoaderFact | None:
        """A loader that feeds training in the order of its data."""
        loader = training_loader(case.trace)
        if loader is None or loader.shuffle is not False or loader.sampler not in ("SequentialSampler", ""):
            return None
        return loader

    EXAMPLES = {
        "a loader": _shuffle_example(
            setup="loader = DataLoader(TensorDataset(x, y), batch_size=⟨4 → 4, shuffle=True⟩)"
        ),
        "a constant elsewhere": _shuffle_example(
            setup="""
                MIX = ⟨False → True⟩
                loader = ⟨DataLoader(TensorDataset(x, y), batch_size=4, shuffle=MIX)⟩"""
        ),
        "slices in order": example(
            """
                torch.manual_seed(0)
                x, y = torch.randn(12, 4), torch.arange(12) // 6
                model = nn.Linear(4, 2)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for epoch in range(2):
                    + order = torch.randperm(len(x))
                    for start in range(0, len(x), 4):
                        stop = start + 4
                        out = model(x[⟨start:stop → order[start:stop]⟩])
                        loss = nn.functional.cross_entropy(out, y[⟨start:stop → order[start:stop]⟩])
                        optimizer ← loss""",
            mark="for start",
        ),
        "pieces side by side": example(
            """
                torch.manual_seed(0)
                x, y = torch.randn(12, 4), torch.arange(12) // 6
                model = nn.Linear(4, 2)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for epoch in range(2):
                    + order = torch.randperm(len(x))
                    for a, b in zip(x⟨.split(4), y → [order].split(4), y[order]⟩.split(4)):
                        optimizer ← nn.functional.cross_entropy(model(a), b)""",
            mark="for a, b",
        ),
        "a generator of batches": _shuffle_example(
            setup="""
                def batches(inputs, labels, size):
                    + order = torch.randperm(len(inputs))
                    for i in range(0, len(inputs), size):
                        yield inputs[⟨i : i + size], labels[i : i + size → order[i : i + size]], labels[order[i : i + size]⟩]""",
            loop="⟨for a, b in batches(x, y, 4)⟩",
        ),
        "shuffled already": _shuffle_example(
            setup="loader = ⟨DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)⟩"
        ),
    }


def _shuffled(case: Case, loader: LoaderFact) -> Faces:
    found = case.code.call_at(loader.created)
    if found is None:
        return Faces()
    file, call = found
    sources = case.sources
    if last_name(call.func) != "DataLoader" or sources.argument(call, "batch_sampler", 4) is not None:
        return Faces()
    sampler = sources.argument(call, "sampler", 3)
    if isinstance(sampler, ast.Call) and last_name(sampler.func) == "SequentialSampler":
        return Faces(rename_callee(file, sampler, "torch.utils.data.RandomSampler"))
    if sampler is not None and not (isinstance(sampler, ast.Constant) and sampler.value is None):
        return Faces()
    return set_argument(case.code, loader.created, "shuffle", "True", position=2, arguments=case.arguments)


@dataclass(frozen=True)
class _Cut:
    file: File
    node: ast.Subscript
    index: ast.expr
    loop: ast.For | ast.While


_slices_example = partial(
    example,
    begin="""
    torch.manual_seed(0)
    x, y = torch.randn(24, 4), torch.arange(24) % 2
    size = 4""",
    model="nn.Linear(4, 2)",
)


class BatchSlices(
    Repair, code="R511", cures=("HYP-BATCH-IMPL", "DAT-LABEL"), knob="batch slices", explores=True
):
    """Cut the batches of inputs and labels from the same rows, one batch after the other.

    Labels that are cut one row further than their inputs, or without the permutation that the inputs are picked by, belong to
    other samples. A slice that moves on by one row, or not at all, leaves most of the data out.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        ways = _cuts(training_targets(case))
        for labels in ways:
            inputs = _beside(labels, _cuts(training_inputs(case)))
            if inputs is not None and any(
                _is_same_cut(inputs, other) for other in ways
            ):  # cut as they should be, then mixed
                edits = replace(labels.file, labels.node, labels.file.source(labels.node.value))
                yield from self.change(case, "labels in the order of their inputs", edits)
                return
            if inputs is not None:
                text = inputs.file.source(inputs.index)
                edits = replace(labels.file, labels.index, text)
                title = f"labels from the same rows as their inputs: [{text}]"
                yield from self.change(case, title, edits)
                return
        if case.cause != "HYP-BATCH-IMPL":
            return  # rows that are left out keep their labels
        for cut in (*_cuts(training_inputs(case)), *_cuts(training_targets(case))):
            edits = _by_batches(cut)
            if edits:
                yield from self.change(case, "move on by whole batches", edits)
                return

    EXAMPLES = {
        "labels mixed after they were cut": _slices_example(
            loop="for rows in torch.randperm(24).split(4)",
            step="""
                a, b = x[rows], y[rows]
                optimizer ← nn.functional.cross_entropy(model(a), b⟨[torch.randperm(len(b))] → ⟩)""",
            cause="DAT-LABEL",
        ),
        "labels one row further": _slices_example(
            setup="""
                def batches(x, y):
                    for i in range(0, len(x) - size, size):
                        yield x[i : i + size], y[i ⟨+ 1 : i + size + 1 → : i + size⟩]""",
            loop="for a, b in batches(x, y)",
            backward="nn.functional.cross_entropy(model(a), b)",
        ),
        "labels without the permutation": _slices_example(
            setup="order = torch.randperm(24)",
            loop="for i in range(0, 24, size)",
            step="""
                a, b = x[order[i : i + size]], y[⟨i : i + size → order[i : i + size]⟩]
                optimizer ← nn.functional.cross_entropy(model(a), b)""",
            cause="DAT-LABEL",
        ),
        "moves on by one row": _slices_example(
            loop="for i in range(⟨len(x) // → 0, len(x),⟩ size)",
            step="""
                a, b = x[i : i + size], y[i : i + size]
                optimizer ← nn.functional.cross_entropy(model(a), b)""",
        ),
        "the first batch again and again": _slices_example(
            loop="⟨for i in range(6)⟩",
            step="""
                a, b = x[⟨:size], y[: → i * size : (i + 1) * size], y[i * size : (i + 1) * ⟩size]
                optimizer ← nn.functional.cross_entropy(model(a), b)""",
        ),
        "cut alike": _slices_example(
            loop="⟨for i in range(0, 24, size)⟩",
            step="""
                a, b = x[i : i + size], y[i : i + size]
                optimizer ← nn.functional.cross_entropy(model(a), b)""",
        ),
    }


def _cuts(ways: list[Flow]) -> list[_Cut]:
    """The places where batches are cut in a loop, the nearest to the model first."""
    found = []
    for flow in ways:
        for step in flow:
            if isinstance(step.node, ast.Subscript):
                loop = step.file.loop(step.node)
                index = first_index(step.node)
                if loop is not None and not isinstance(index, ast.Constant):
                    found.append(_Cut(step.file, step.node, index, loop))
    return found


def _beside(labels: _Cut, inputs: list[_Cut]) -> _Cut | None:
    """A cut of other data in the same loop, by another index."""
    if not moves(labels.index, labels.loop):
        return None
    if not inputs:  # a network that is no module: what stands beside the labels
        inputs = [
            _Cut(labels.file, node, node.slice, labels.loop)
            for node in inside(labels.loop, ast.Subscript)
            if isinstance(node.ctx, ast.Load)
            and labels.file.statement(node) is labels.file.statement(labels.node)
            and isinstance(node.slice, ast.Slice)
        ]
    for cut in inputs:
        if cut.loop is not labels.loop or not moves(cut.index, cut.loop):
            continue
        # the next word of a text is its label
        same_data = ast.dump(cut.node.value) == ast.dump(labels.node.value)
        return None if same_data or ast.dump(cut.index) == ast.dump(labels.index) else cut
    return None


def _is_same_cut(inputs: _Cut, labels: _Cut) -> bool:
    return labels.loop is inputs.loop and ast.dump(labels.index) == ast.dump(inputs.index)


def _by_batches(cut: _Cut) -> FileEdits:
    """`for i in range(n)` with `x[i : i + size]` → `range(0, len(x), size)`; with `x[:size]` → `x[i * size : (i + 1) * size]`."""
    loop, index = cut.loop, cut.index
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return ()
    if not isinstance(index, ast.Slice):
        return ()
    rounds = loop.iter
    if not isinstance(rounds, ast.Call) or last_name(rounds.func) != "range" or index.upper is None:
        return ()
    name = loop.target.id
    lower, upper = index.lower, index.upper
    counted = isinstance(lower, ast.Name) and lower.id == name and len(rounds.args) == 1
    sums = upper if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add) else None
    if counted and sums is not None and isinstance(sums.left, ast.Name) and sums.left.id == name:
        size, data = cut.file.source(sums.right), cut.file.source(cut.node.value)
        return replace(cut.file, rounds, f"range(0, len({data}), {size})")
    if (lower is None or (isinstance(lower, ast.Constant) and lower.value == 0)) and not _uses(loop, name):
        return _again(cut, name, len(rounds.args) == 3)
    return ()


def _uses(loop: ast.For, name: str) -> bool:
    return any(
        name in variables_in(node.slice)
        for statement in loop.body
        for node in inside(statement, ast.Subscript)
    )


def _again(cut: _Cut, name: str, by_rows: bool) -> FileEdits:
    """The first batch in every round: all slices of that form move on."""
    assert isinstance(cut.index, ast.Slice) and cut.index.upper is not None
    size = cut.file.source(cut.index.upper)
    text = f"{name} : {name} + {size}" if by_rows else f"{name} * {size} : ({name} + 1) * {size}"
    read = [node for node in inside(cut.loop, ast.Subscript) if isinstance(node.ctx, ast.Load)]
    alike = [index for index in map(first_index, read) if ast.dump(index) == ast.dump(cut.index)]
    return tuple(edit for index in alike for edit in replace(cut.file, index, text))
