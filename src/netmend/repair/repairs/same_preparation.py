"""R505."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.alike_at_line import alike_at_line
from netmend.changes.data.data_holders import evaluation_inputs, holders, is_array, training_inputs
from netmend.changes.data.data_origins import Flow
from netmend.changes.data.preparation import Preparation, preparations, same_kind
from netmend.program.source.bindings import binding_of, bindings_in
from netmend.program.source.writing import (
    add_argument,
    insert_after,
    insert_argument_after,
    insert_before,
    replace,
)
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_example = partial(
    example,
    begin="""
    torch.manual_seed(0)
    x, y = 50 + 9 * torch.randn(24, 3), torch.arange(24) % 2
    x_test, y_test = 50 + 9 * torch.randn(8, 3), torch.arange(8) % 2""",
    model="nn.Linear(3, 2)",
    loop="for rows in torch.randperm(24).split(8)",
    backward="nn.functional.cross_entropy(model(x[rows]), y[rows])",
    end="""
    model.eval()
    with torch.no_grad():
        print((model(x_test).argmax(1) == y_test).float().mean())""",
)


class SamePreparation(
    Repair, code="R505", cures=("PRE-TRAIN-TEST-SKEW",), knob="evaluation data", explores=True
):
    """Prepare evaluation data as training data is prepared, with the statistics of the training data.

    A line such as `x = (x - mean) / std` is repeated for the evaluation data, an argument that only the training set is given is
    given to the other as well, and so is a `Normalize` that only one of two transformations holds.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        for training in training_inputs(case)[:2]:
            for evaluation in evaluation_inputs(case):
                edits = (
                    _same_arguments(case, training, evaluation)
                    or _same_transforms(training, evaluation)
                    or _same_lines(case, training, evaluation)
                )
                if edits:
                    title = "prepare evaluation data like training data"
                    yield from self.change(case, title, edits)
                    return
        for edits in alike_at_line(case):
            title = "make the line for evaluation data like that for training data"
            yield from self.change(case, title, edits)

    EXAMPLES = {
        "the same line": _example(
            setup="""
                mean, std = x.mean(0), x.std(0)
                x = (x - mean) / std
                + x_test = (x_test - mean) / std"""
        ),
        "before the statistics are changed": _example(
            setup="+ x_test = (x_test - x.mean(0)) / x.std(0)\n⟨x = (x - x.mean(0)) / x.std(0)⟩"
        ),
        "arrays, which become tensors later": _example(
            setup="""
                rows, rows_test = x.numpy(), x_test.numpy()
                class Scaler:
                    def fit_transform(self, x):
                        self.mean, self.std = x.mean(0), x.std(0)
                        return self.transform(x)
                    def transform(self, x):
                        return (x - self.mean) / self.std
                scaler = Scaler()
                rows = scaler.fit_transform(rows)
                + rows_test = scaler.transform(rows_test)
                x, x_test = torch.tensor(rows), torch.tensor(rows_test)"""
        ),
        "an argument of the data set": _example(
            setup="""
                class Rows(Dataset):
                    def __init__(self, x, y, stats=None):
                        self.x, self.y, self.stats = x, y, stats
                    def __len__(self):
                        return len(self.y)
                    def __getitem__(self, i):
                        row = self.x[i]
                        if self.stats is not None:
                            row = (row - self.stats[0]) / self.stats[1]
                        return row, self.y[i]
                stats = x.mean(0), x.std(0)
                train = DataLoader(Rows(x, y, stats), batch_size=8)
                test = DataLoader(Rows(x_test, ⟨y_test → y_test, stats⟩), batch_size=8)""",
            loop="for a, b in train",
            backward="nn.functional.cross_entropy(model(a), b)",
            end="""
                model.eval()
                with torch.no_grad():
                    print([(model(a).argmax(1) == b).float().mean() for a, b in test])""",
        ),
        "in the loop": _example(
            setup="mean, std = x.mean(0), x.std(0)",
            backward="",
            step="""
                ⟨a = (x[rows] - mean) / std⟩
                optimizer ← nn.functional.cross_entropy(model(a), y[rows])""",
            end="""
                model.eval()
                with torch.no_grad():
                    print((⟨model(x_test) → model((x_test - mean) / std)⟩.argmax(1) == y_test).float().mean())""",
        ),
        "prepared alike": _example(
            setup="""
                mean, std = x.mean(0), x.std(0)
                ⟨x = (x - mean) / std⟩
                x_test = (x_test - mean) / std"""
        ),
        "a scaler that is fitted again": _example(
            setup="""
                class Scaler:
                    def fit_transform(self, x):
                        self.mean, self.std = x.mean(0), x.std(0)
                        return self.transform(x)
                    def transform(self, x):
                        return (x - self.mean) / self.std
                scaler = Scaler()
                x = scaler.fit_transform(x)
                x_test = scaler.⟨fit_transform → transform⟩(x_test)"""
        ),
    }


def _same_lines(case: Case, training: Flow, evaluation: Flow) -> FileEdits:
    """The preparation that only training data goes through, for the evaluation data as well."""
    there = preparations(case, evaluation)
    reached = {id(step.node) for step in evaluation}
    for preparation in preparations(case, training):
        if any(same_kind(preparation, other) for other in there) or id(preparation.value) in reached:
            continue
        edits = (
            _where_held(preparation, training, evaluation)
            or _in_its_place(preparation, evaluation)
            or _where_used(preparation, evaluation)
        )
        if edits:
            return edits
    return ()


def _where_held(preparation: Preparation, training: Flow, evaluation: Flow) -> FileEdits:
    statement = preparation.file.statement(preparation.value)
    if statement is None or preparation.file.loop(preparation.value) is not None:
        return ()
    bound = next((b.name for b in _bound(statement) if b.value is preparation.value), None)
    made = next((is_array(training, held) for held in holders(training) if held.statement is statement), None)
    for held in holders(evaluation):
        if held.file is not preparation.file or statement not in held.block or bound is None:
            continue
        if made is not None and is_array(evaluation, held) is (not made):
            continue  # arrays there, tensors here: another stage
        line = f"{held.name} = {preparation.of(held.name)}"
        own_statistics = preparation.uses(bound)
        if held.statement.lineno <= statement.lineno:
            # Before the statistics are those of standardised data.
            put = insert_before if own_statistics else insert_after
            return put(held.file, statement, line)
        return () if own_statistics else insert_after(held.file, held.statement, line)
    return ()


def _in_its_place(preparation: Preparation, evaluation: Flow) -> FileEdits:
    """`torch.tensor(scaled(x))` for training and `torch.tensor(x_test)` for evaluation."""
    file = preparation.file
    place = _argument_place(file, preparation.value)
    if place is None or file.loop(preparation.value) is not None:
        return ()
    for step in evaluation:
        if step.path or step.file is not file or not isinstance(step.node, ast.Name | ast.Subscript):
            continue
        known = all(_is_visible(file, name, step.node) for name in preparation.names)
        if known and _argument_place(file, step.node) == place:
            return replace(file, step.node, preparation.of(file.source(step.node)))
    return ()


def _argument_place(file: File, node: ast.expr) -> tuple[str, int, str] | None:
    """The function that an expression is given to, and as which argument, in which scope."""
    above = file.parent(node)
    if not isinstance(above, ast.Call) or node not in above.args:
        return None
    function = file.function(node)
    return file.source(above.func), above.args.index(node), "" if function is None else function.name


def _bound(statement: ast.stmt) -> list[_Bound]:
    found: list[_Bound] = []
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                found.append(_Bound(target.id, statement.value))
            elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = zip(target.elts, statement.value.elts, strict=False)
                found += [_Bound(t.id, v) for t, v in pairs if isinstance(t, ast.Name)]
    return found


@dataclass(frozen=True)
class _Bound:
    name: str
    value: ast.expr


def _where_used(preparation: Preparation, evaluation: Flow) -> FileEdits:
    """`net((x - mean) / std)` in training: the same where evaluation calls the model."""
    first = evaluation[0] if evaluation else None
    if first is None or first.file is not preparation.file:
        return ()
    if preparation.file.loop(preparation.value) is None:
        return ()
    if not all(_is_visible(first.file, name, first.node) for name in preparation.names):
        return ()
    return replace(first.file, first.node, preparation.of(first.file.source(first.node)))


def _is_visible(file: File, name: str, at: ast.expr) -> bool:
    """Whether a name means something at a place: global, imported, or set in the function around it."""
    function = file.function(at)
    if function is not None and bindings_in(function, name):
        return True
    if bindings_in(file.tree, name):
        return True
    return any(
        (isinstance(node, Function | ast.ClassDef) and node.name == name)
        or (isinstance(node, ast.alias) and (node.asname or node.name.partition(".")[0]) == name)
        for node in inside(file.tree, ast.stmt, ast.alias)
    )


def _same_arguments(case: Case, training: Flow, evaluation: Flow) -> FileEdits:
    """`Rows(x, y, stats)` for training and `Rows(xt, yt)` for evaluation."""
    for one in training:
        for other in evaluation:
            if not (isinstance(one.node, ast.Call) and isinstance(other.node, ast.Call)):
                continue
            if one.node is other.node:
                continue
            name = last_name(one.node.func)
            own = any(case.code.definition(name, kind) for kind in (ast.ClassDef, ast.FunctionDef))
            if not own or name != last_name(other.node.func) or one.file is not other.file:
                continue
            edits = _missing_arguments(one.file, one.node, other.node)
            if edits:
                return edits
    return ()


def _missing_arguments(file: File, full: ast.Call, short: ast.Call) -> FileEdits:
    if any(isinstance(argument, ast.Starred) for argument in (*full.args, *short.args)):
        return ()
    given = {keyword.arg for keyword in short.keywords}
    texts = [file.source(argument) for argument in full.args[len(short.args) :]] if not given else []
    texts += [
        f"{keyword.arg}={file.source(keyword.value)}"
        for keyword in full.keywords
        if keyword.arg
        and keyword.arg not in given
        and keyword.arg not in ("train", "training", "augment", "split")
    ]
    return add_argument(file, short, ", ".join(texts)) if texts else ()


def _same_transforms(training: Flow, evaluation: Flow) -> FileEdits:
    """`transforms.Normalize(…)` that only the transformation of the training set holds, or holds with other numbers."""
    one, other = _compose(training), _compose(evaluation)
    if one is None or other is None or one[1] is other[1]:
        return ()
    scaling, missing = _normalize(one[1]), _normalize(other[1])
    if scaling is None:
        return ()
    text = one[0].source(scaling)
    if missing is not None:
        same = text == other[0].source(missing)
        return () if same else replace(other[0], missing, text)
    last = other[1].elts[-1] if other[1].elts else None
    return insert_argument_after(other[0], last, text) if last is not None else ()


def _normalize(steps: ast.List) -> ast.Call | None:
    return next((s for s in steps.elts if isinstance(s, ast.Call) and last_name(s.func) == "Normalize"), None)


def _compose(flow: Flow) -> tuple[File, ast.List] | None:
    """The list of steps that a data set is given as `transform`."""
    for step in flow:
        if not isinstance(step.node, ast.Call):
            continue
        value = next((k.value for k in step.node.keywords if k.arg in ("transform", "transforms")), None)
        if isinstance(value, ast.Name):
            bound = binding_of(step.file, value)
            value = bound.value if bound is not None and not bound.path else None
        composed = isinstance(value, ast.Call) and last_name(value.func) in ("Compose", "Sequential")
        steps = value.args[0] if composed and isinstance(value, ast.Call) and value.args else None
        if isinstance(steps, ast.List):
            return step.file, steps
    return None
