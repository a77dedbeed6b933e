"""R502."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.data_holders import evaluation_inputs, training_inputs
from netmend.changes.data.data_origins import Step
from netmend.changes.data.standardise import (
    held_alike,
    input_scale,
    norm_before,
    norm_first,
    own_class,
    standardised,
)
from netmend.program.source.writing import insert_after, insert_before, wrap
from netmend.program.text.queries import without_text
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import LossFact, ModelFact, ModuleFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_example = partial(
    example,
    begin="""
    torch.manual_seed(0)
    def table(n):
        x = torch.randn(n, 3) * torch.tensor([1.0, 100.0, 5000.0]) + 300
        return x, (x[:, 0] > 300).long()""",
    epochs="for epoch in range(2)",
    loop="for rows in torch.randperm(24).split(8)",
    backward="nn.functional.cross_entropy(model(x_train[rows]), y_train[rows])",
    end="""
    model.eval()
    with torch.no_grad():
        print((model(x_test).argmax(1) == y_test).float().mean())""",
)


class NormaliseInputs(
    Repair,
    code="R502",
    cures=("PRE-MISS-NORM", "PRE-WRONG-PIXEL", "PRE-MISS-SCALE"),
    knob="input scale",
    effort=BY_FACTS,
):
    """Bring the inputs to about unit size.

    Pixels are divided by 255 and centred; other features lose their mean and are divided by their standard deviation, those of the training
    data, in training and evaluation alike. Where the data cannot be changed where it is made, the model does it with its first
    layer.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        met = case.trace.get(ModuleFact, case.component)
        if (
            met is not None and case.trace.get(ModelFact, met.name) is None
        ):  # a further input, where it is met
            edits = norm_before(case, met)
            yield from self.change(case, f"batch norm before {met.name}", edits)
            return
        scale = input_scale(case)
        if scale is None or case.trace.get(LossFact, case.component):
            return  # the targets are meant
        if scale.pixels:
            unit = scale.unit
            edits = _where_made(case, unit) or _where_held(case, unit) or _in_model(case, unit)
            yield from self.change(case, f"scale the pixels: {unit[0]}x{unit[1]}", edits)
        else:
            edits = standardised(case, scale)
            yield from self.change(case, "standardise the inputs", edits)
        edits = norm_first(case, scale)
        yield from self.change(case, "batch norm as the first layer", edits)

    EXAMPLES = {
        "a table, with the statistics of the training rows": _example(
            data="""
                x_train, y_train = table(24)
                + mean, std = x_train.mean(0), x_train.std(0)
                + x_train = (x_train - mean) / std
                x_test, y_test = table(8)
                + x_test = (x_test - mean) / std""",
            model="nn.Linear(3, 2)",
        ),
        "a table that a loop fills: behind the loop": _example(
            data="""
                ⟨x_train, y_train = torch.zeros(24, 3)⟩, torch.zeros(24).long()
                for row in range(24):
                    x_train[row], y_train[row] = table(1)
                + mean, std = x_train.mean(0), x_train.std(0)
                + x_train = (x_train - mean) / std
                x_test, y_test = table(8)
                + x_test = (x_test - mean) / std""",
            model="nn.Linear(3, 2)",
        ),
        "a batch norm as the first layer": _example(
            data="⟨x_train, y_train = table(24)⟩\nx_test, y_test = table(8)",
            model="nn.Sequential(⟨nn. → nn.BatchNorm1d(3), nn.⟩Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))",
            component="model",
            nth=1,
        ),
        "a class whose layers come of a comprehension: its names mean nothing outside": _example(
            data="""
                ⟨x_train, y_train = table(24)⟩
                x_test, y_test = table(8)""",
            layers="""
                + self.input_norm = nn.BatchNorm1d(3)
                self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))""",
            forward="""
                + x = self.input_norm(x)
                for layer in self.layers:
                    x = layer(x)
                return x""",
            takes="n_in=3, sizes=(3, 8, 2)",
            nth=1,
        ),
        "a second input, where its layers begin": _example(
            data="""
                x_train, y_train = table(24)
                x_test, y_test = table(8)""",
            layers="""
                self.a = nn.Linear(3, 4)
                self.b = nn.Sequential(⟨nn. → nn.BatchNorm1d(3), nn.⟩Linear(3, 4), nn.ReLU())
                self.head = nn.Linear(8, 2)""",
            forward="return self.head(torch.cat([self.a(x), self.b(table)], dim=1))",
            given="x, table",
            backward="nn.functional.cross_entropy(model(x_train[rows], x_train[rows]), y_train[rows])",
            end="""
                model.eval()
                with torch.no_grad():
                    print((model(x_test, x_test).argmax(1) == y_test).float().mean())""",
            component="model.b.0",
        ),
        "a class that is given its width": _example(
            data="""
                ⟨x_train, y_train = table(24)⟩
                x_test, y_test = table(8)""",
            layers="""
                + self.input_norm = nn.BatchNorm1d(n_in)
                self.layers = nn.ModuleList([nn.Linear(n_in, 8), nn.Linear(8, 2)])""",
            forward="""
                + x = self.input_norm(x)
                for layer in self.layers:
                    x = layer(x)
                return x""",
            takes="n_in=3, sizes=(3, 8, 2)",
            nth=1,
        ),
        "pixels, where a sample is made": _example(
            begin="",
            data="""
                torch.manual_seed(0)
                class Images(torch.utils.data.Dataset):
                    def __init__(self, n):
                        self.x = torch.randint(0, 256, (n, 1, 4, 4), dtype=torch.uint8)
                    def __len__(self):
                        return len(self.x)
                    def __getitem__(self, i):
                        ⟨return self.x[i].float() → return (self.x[i].float() / 255 - 0.48) / 0.29⟩, int(self.x[i, 0, 0, 0] > 127)""",
            model="nn.Sequential(nn.Flatten(), nn.Linear(16, 2))",
            epochs="",
            loop="for x, y in torch.utils.data.DataLoader(Images(24), batch_size=8)",
            backward="nn.functional.cross_entropy(model(x), y)",
            end="""
                with torch.no_grad():
                    for x, y in torch.utils.data.DataLoader(Images(8), batch_size=8):
                        print((model(x).argmax(1) == y).float().mean())""",
        ),
        "the fault is about the targets": _example(
            data="⟨x_train, y_train = table(24)⟩\nx_test, y_test = table(8)",
            model="nn.Linear(3, 2)",
            cause="PRE-MISS-SCALE",
            component="cross_entropy@train.py:14",
        ),
    }


def _where_made(case: Case, unit: tuple[str, str]) -> FileEdits:
    """The expression that all data goes through, in training and evaluation, the nearest to the model."""
    flows = [*training_inputs(case), *evaluation_inputs(case)]
    if not flows:
        return ()
    for step in flows[0]:
        if step.kind == "returned" and not step.path and all(_goes_through(flow, step) for flow in flows):
            return wrap(step.file, step.node, *unit) if _is_plain(step.node) else ()
    return ()


def _is_plain(node: ast.expr) -> bool:
    """Whether a computation can be hung onto an expression as it stands."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)


def _goes_through(flow: tuple[Step, ...], step: Step) -> bool:
    return any(other.node is step.node and other.kind == "returned" for other in flow)


def _where_held(case: Case, unit: tuple[str, str]) -> FileEdits:
    found = held_alike(case)
    if found is None:
        return ()
    first, others = found
    edits: FileEdits = ()
    for statement in dict.fromkeys(one.statement for one in (first, *others)):
        names = [one.name for one in (first, *others) if one.statement is statement]
        values = ", ".join(name.join(unit) for name in names)
        edits = (*edits, *insert_after(first.file, statement, f"{', '.join(names)} = {values}"))
    return edits


def _in_model(case: Case, unit: tuple[str, str]) -> FileEdits:
    found = None if case.model is None else own_class(case, case.model)
    if found is None:
        return ()
    file, _, forward = found
    body = without_text(forward)
    if len(forward.args.args) < 2 or not body:
        return ()
    name = forward.args.args[1].arg
    return insert_before(file, body[0], f"{name} = {name.join(unit)}")
