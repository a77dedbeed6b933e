"""Rows of training data that a graded fault takes away, repeats or falsifies: which ones, and the edits that choose them.

They are drawn by a generator of their own: the program's random numbers stay as they are, so a mutant starts from the same weights
as its original, and what a milder value of a knob touches is a part of what a stronger one does.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.data.data_holders import Holder, evaluation_inputs, forward_calls, is_array, pairs
from netmend.changes.data.data_origins import Flow
from netmend.changes.data_edits import part_of, put, rows, targets
from netmend.changes.network.heads_in_source import head_of
from netmend.diagnose.measures.batches import label_counts, training_loader, training_samples
from netmend.program.source.naming import new_variable, spelled
from netmend.program.source.numbers import literal
from netmend.program.source.writing import wrap
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.vocabulary.change import FileEdits

_SPLITTING = ("random_split", "train_test_split", "Subset", "split", "chunk")
_ORDERS = ("randperm", "permutation")
_COUNTING = ("range", "trange", "arange", "randint", "integers", "choice")
_MOST_CLASSES = 1000


@dataclass(frozen=True, eq=False)
class Labels:
    """The name that holds the classes 0, 1, … of all training samples."""

    held: Holder
    counts: dict[int, int]

    @property
    def name(self) -> str:
        return part_of(self.held)

    def most_frequent(self) -> list[int]:
        """The classes, the largest first."""
        return sorted(self.counts, key=lambda label: (-self.counts[label], label))


def labels(case: Case) -> Labels | None:
    """None where targets are not one class for each sample, or also those of evaluation data."""
    held, counts = targets(case), label_counts(case.trace)
    values = sorted(counts)
    if held is None or not 2 <= len(values) <= _MOST_CLASSES or values != list(range(len(values))):
        return None
    head = head_of(case)
    shape = () if head is None or head.target is None else head.target.shape
    if math.prod(shape[1:]) != 1 or not only_trains(case, held):
        return None
    return Labels(held, {int(label): count for label, count in counts.items()})


def only_trains(case: Case, held: Holder) -> bool:
    """Whether no evaluation data is cut from a name of inputs or targets; a slice that training alone uses is fine."""
    if held.part is not None and isinstance(held.part.slice, ast.Slice):
        return True
    both = [held, *(given for given, wanted in pairs(case) if _is_same(wanted, held))]
    return not any(_is_cut(flow, each) for each in both for flow in evaluation_inputs(case))


def _is_same(one: Holder, other: Holder) -> bool:
    return one.name == other.name and one.statement is other.statement


def _is_cut(flow: Flow, held: Holder) -> bool:
    """Whether only a part of what a name holds goes this way."""
    cut = False
    for step in flow:
        if step.kind == "bound" and step.statement is held.statement and step.name == held.name:
            return cut
        part = isinstance(step.node, ast.Subscript) and step.file.loop(step.node) is None
        split = isinstance(step.node, ast.Call) and last_name(step.node.func) in _SPLITTING
        cut = cut or part or split
    return False


def takes_one_input(case: Case) -> bool:
    """Whether the model is given one thing: of several, all would have to be changed alike."""
    calls = [call for _, call in forward_calls(case, training=True)]
    return bool(calls) and all(len(call.args) == 1 and not call.keywords for call in calls)


def free_rows(case: Case) -> tuple[Holder, Holder] | None:
    """Names of inputs and targets of which there may be more or fewer rows: no other part of the program counts them."""
    both = next(rows(case), None)
    if both is None or not takes_one_input(case):
        return None
    samples = training_samples(case.trace)
    for file in case.code.files(both[0].file.file):
        if any(literal(given) is not None for call in file.calls(*_ORDERS) for given in call.args):
            return None  # `torch.randperm(1600)`
        if any(literal(given) == samples for call in file.calls(*_COUNTING) for given in call.args):
            return None
    return both


def chances(held: Holder, shape: str) -> tuple[str, FileEdits]:
    """A number between 0 and 1 for each element, and the imports that this needs."""
    if is_array(held.flow, held):
        name, extra = spelled(held.file, "numpy.random.default_rng")
        return f"{name}(0).random({shape})", extra
    return _drawn(held.file, "torch.rand", shape, _moved(held))


def noisy(held: Holder, size: float) -> FileEdits:
    """Normally distributed noise of so many standard deviations is added."""
    name = part_of(held)
    if is_array(held.flow, held):
        generator, extra = spelled(held.file, "numpy.random.default_rng")
        noise = f"{generator}(0).standard_normal({name}.shape)"
    else:
        noise, extra = _drawn(held.file, "torch.randn", f"{name}.shape", _moved(held))
    return (*put(held, f"{name}[:] = {name} + {size:g} * {name}.std() * {noise}"), *extra)


def shifts(held: Holder, shape: str, classes: int) -> tuple[str, FileEdits]:
    """A number of 1, …, classes - 1 for each element: how far its class is moved."""
    if is_array(held.flow, held):
        name, extra = spelled(held.file, "numpy.random.default_rng")
        return f"{name}(1).integers(1, {classes}, {shape})", extra
    return _drawn(held.file, "torch.randint", f"1, {classes}, {shape}", _moved(held), seed=1)


def _drawn(file: File, function: str, given: str, behind: str = "", seed: int = 0) -> tuple[str, FileEdits]:
    name, first = spelled(file, function)
    generator, second = spelled(file, "torch.Generator")
    extra = tuple(dict.fromkeys((*first, *second)))
    return f"{name}({given}, generator={generator}().manual_seed({seed})){behind}", extra


def _moved(held: Holder) -> str:
    """Where data may lie on another device, to that one."""
    elsewhere = "cuda" in held.file.text or ".to(" in held.file.text
    return f".to({held.name}.device)" if elsewhere else ""


def chosen_rows(case: Case, kept: int, repeated: bool) -> FileEdits:
    """Train on `kept` of all samples; `repeated`: as often as there were samples before."""
    samples = training_samples(case.trace)
    if samples is None:
        return ()
    if training_loader(case.trace) is None:
        return _of_names(case, samples, kept, repeated)
    loader = training_loader(case.trace)
    found = None if loader is None else case.code.call_at(loader.created)
    if loader is None or found is None or "Random" not in loader.sampler or "Weighted" in loader.sampler:
        return ()
    file, call = found
    data = case.code.sources.argument(call, "dataset", 0)
    if data is None:
        return ()
    name, extra = spelled(file, "torch.utils.data.Subset")
    chosen, more = _drawn(file, "torch.randperm", str(samples))
    around = wrap(file, data, f"{name}(", f", {chosen}{_cut(samples, kept, repeated)}.tolist())")
    return (*around, *extra, *more) if around else ()


def _of_names(case: Case, samples: int, kept: int, repeated: bool) -> FileEdits:
    both = free_rows(case)
    if both is None:
        return ()
    given, wanted = both
    x, y, name = given.name, wanted.name, new_variable(given.file, "chosen", "kept")
    chosen, extra = _drawn(given.file, "torch.randperm", f"len({x})")
    take = f"{x}, {y} = {x}[{name}], {y}[{name}]" if x != y else f"{x} = {x}[{name}]"
    line = f"{name} = {chosen}{_cut(samples, kept, repeated)}"
    return (*put(given, line, take, beside=wanted), *extra)


def _cut(samples: int, kept: int, repeated: bool) -> str:
    return f"[:{kept}]" + (f".repeat({-(-samples // kept)})[:{samples}]" if repeated else "")
