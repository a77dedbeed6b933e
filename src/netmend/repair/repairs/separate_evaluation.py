"""R512."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.data_holders import (
    evaluation_inputs,
    is_array,
    pairs,
    settled,
    training_inputs,
    training_targets,
)
from netmend.changes.data.data_origins import Flow
from netmend.changes.data_edits import evaluates_too
from netmend.program.source.bindings import binding_of
from netmend.program.source.naming import new_variable, spelled
from netmend.program.source.numbers import literal
from netmend.program.source.writing import insert_after, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import holds, inside, last_name, uses_of
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_example = partial(
    example,
    begin="torch.manual_seed(0)\nx, y = torch.randn(24, 3), torch.arange(24) % 2",
    model="nn.Linear(3, 2)",
    loop="for rows in torch.randperm(len(x_train)).split(8)",
    backward="nn.functional.cross_entropy(model(x_train[rows]), y_train[rows])",
    end="""
    model.eval()
    with torch.no_grad():
        print((model(x_val).argmax(1) == y_val).float().mean())""",
)


class SeparateEvaluation(
    Repair, code="R512", cures=("VAL-SPLIT", "VAL-TEST-LEAK", "VAL-TEST-DUP", "VAL-SET-MISSING"), knob="split"
):
    """Evaluate on rows that training does not see.

    Where training takes all rows and evaluation a part of them, training keeps the rest; where two slices overlap, evaluation
    begins where training ends; where a part was held out and never used, it is. Data that is split in the order of its classes
    is shuffled first. The score may fall: it was too good before.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        if _classes_unseen(case):
            yield from self.change(case, "shuffle before splitting", _shuffled_first(case))
            return
        for evaluation in evaluation_inputs(case):
            for training in training_inputs(case):
                edits = _rest_for_training(case, training, evaluation)
                if edits:
                    yield from self.change(case, "train on the other rows only", edits)
                    return
                edits = _apart(training, evaluation)
                if edits:
                    yield from self.change(case, "evaluate on other rows", edits)
                    return
                edits = _held_out(training, evaluation)
                if edits:
                    yield from self.change(case, "evaluate on the part held out", edits)
                    return

    EXAMPLES = {
        "all rows for training": _example(
            setup="x_train, y_train = x⟨, y → [:16], y[:16]⟩\n⟨x_val, y_val = x[16:], y[16:]⟩"
        ),
        "slices that overlap": _example(
            setup="x_train, y_train = x[:16], y[:16]\nx_val, y_val = x[⟨10:], y[10 → 16:], y[16⟩:]"
        ),
        "indices of subsets": _example(
            setup="""
                full, order = TensorDataset(x, y), torch.randperm(24).tolist()
                train_set, val_set = Subset(full, ⟨order → order[:16]⟩), Subset(full, order[16:])""",
            loop="for a, b in DataLoader(train_set, batch_size=8)",
            backward="nn.functional.cross_entropy(model(a), b)",
            end="""
                model.eval()
                with torch.no_grad():
                    for a, b in DataLoader(val_set, batch_size=8, shuffle=False):
                        print((model(a).argmax(1) == b).float().mean())""",
        ),
        "a part that nobody reads": _example(
            setup="⟨train_set, val_set = random_split(TensorDataset(x, y), [16, 8])⟩",
            loop="for a, b in DataLoader(train_set, batch_size=8)",
            backward="nn.functional.cross_entropy(model(a), b)",
            end="""
                model.eval()
                with torch.no_grad():
                    for a, b in DataLoader(⟨train_set → val_set⟩, batch_size=8, shuffle=False):
                        print((model(a).argmax(1) == b).float().mean())""",
        ),
        "split in the order of the classes": _example(
            setup="""
                y = torch.arange(24) // 12
                + order = torch.randperm(len(x))
                + x, y = x[order], y[order]
                x_train, y_train = x[:12], y[:12]
                ⟨x_val, y_val = x[12:], y[12:]⟩""",
            end="""
                model.eval()
                with torch.no_grad():
                    print(nn.functional.cross_entropy(model(x_val), y_val))""",
        ),
        "apart already": _example(setup="x_train, y_train = x[:16], y[:16]\n⟨x_val, y_val = x[16:], y[16:]⟩"),
    }


def _classes_unseen(case: Case) -> bool:
    seen: dict[str, set[str]] = {"training": set(), "evaluation": set()}
    for batch in case.trace.batches:
        seen.setdefault(batch.phase, set()).update(batch.labels)
    return bool(seen["training"]) and bool(seen["evaluation"] - seen["training"])


def _shuffled_first(case: Case) -> FileEdits:
    """One permutation for inputs and labels, behind the lines that make them and before they are cut."""
    found = pairs(case)
    for inputs, targets in reversed([pair for pair in found if pair[0].block is found[0][0].block]):
        array = is_array(inputs.flow, inputs)
        if inputs.name == targets.name or array is None or not evaluates_too(case, inputs):
            continue
        last = max((settled(inputs), settled(targets)), key=lambda s: s.lineno)
        name, extra = spelled(inputs.file, "numpy.random.permutation" if array else "torch.randperm")
        order = new_variable(inputs.file, "order", "perm")
        text = (
            f"{order} = {name}(len({inputs.name}))\n"
            f"{inputs.name}, {targets.name} = {inputs.name}[{order}], {targets.name}[{order}]"
        )
        return (*insert_after(inputs.file, last, text), *extra)
    return ()


@dataclass(frozen=True)
class _Rows:
    """A choice of rows on the way of data: `x[700:]`, or the indices of a `Subset`."""

    file: File
    node: ast.expr  # the whole expression
    base: str  # what is cut, as it is written
    slice: ast.Slice | None  # None: all of it


def _rows(flow: Flow) -> list[_Rows]:
    found: list[_Rows] = []
    for step in flow:
        node = step.node
        if step.file.loop(node) is not None:
            continue
        chosen = node
        if isinstance(node, ast.Call) and last_name(node.func) == "Subset" and len(node.args) > 1:
            chosen = node.args[1]
        if isinstance(chosen, ast.Subscript) and isinstance(chosen.slice, ast.Slice):
            found.append(_Rows(step.file, chosen, step.file.source(chosen.value), chosen.slice))
        elif isinstance(chosen, ast.Name) and not (chosen is node and step.path):
            found.append(_Rows(step.file, chosen, chosen.id, None))
    return found


def _rest_for_training(case: Case, training: Flow, evaluation: Flow) -> FileEdits:
    """`x` for training and `x[700:]` for evaluation: training gets `x[:700]`."""
    own = _rows(training)
    # Where training is cut too, its part is meant.
    cut = {rows.base for rows in own if rows.slice is not None}
    for held in _rows(evaluation):
        if held.slice is None or held.base in cut or held.slice.step is not None:
            continue
        if (held.slice.lower is None) == (held.slice.upper is None):
            continue
        for rows in own:
            if rows.base != held.base or rows.file is not held.file or not isinstance(rows.node, ast.Name):
                continue
            if holds(held.node, rows.node):
                continue
            bound, text = (
                (held.slice.lower, ":{}") if held.slice.lower is not None else (held.slice.upper, "{}:")
            )
            if bound is None:
                continue
            part = text.format(held.file.source(bound))
            edits = replace(rows.file, rows.node, f"{rows.base}[{part}]")
            if _is_index(rows.file, rows.node):
                return edits  # one choice for inputs and labels
            labels = _labels_beside(case, rows)
            return (*edits, *wrap(rows.file, labels, "", f"[{part}]")) if labels is not None else ()
    return ()


def _is_index(file: File, node: ast.expr) -> bool:
    above = file.parent(node)
    return isinstance(above, ast.Call) and last_name(above.func) == "Subset"


def _labels_beside(case: Case, rows: _Rows) -> ast.expr | None:
    """The labels that stand in the same statement as the inputs."""
    statement = rows.file.statement(rows.node)
    for flow in training_targets(case):
        for step in flow:
            if step.path or not isinstance(step.node, ast.Name) or step.node is rows.node:
                continue
            if step.file is rows.file and rows.file.statement(step.node) is statement:
                return step.node
    # `x_train = x` and `y_train = y` on neighbouring lines.
    for flow in training_targets(case):
        for step in flow:
            if (
                (
                    step.kind == "bound"
                    and isinstance(step.node, ast.Name)
                    and step.file is rows.file
                    and not step.path
                )
                and statement is not None
                and abs(step.node.lineno - statement.lineno) <= 2
            ):
                return step.node
    return None


def _apart(training: Flow, evaluation: Flow) -> FileEdits:
    """`x[:800]` and `x[700:]`: evaluation begins at 800."""
    for one in _rows(training):
        for other in _rows(evaluation):
            if one.slice is None or other.slice is None or one.base != other.base:
                continue
            if one.file is not other.file:
                continue
            end, start = one.slice.upper, other.slice.lower
            if end is None or start is None or one.slice.lower is not None:
                continue
            last, first = literal(end), literal(start)
            if last is None or first is None or (last < 0) != (first < 0) or first >= last:
                continue
            # The labels are cut by the same numbers.
            alike = [n for n in inside(one.file.tree, ast.Slice) if ast.dump(n) == ast.dump(other.slice)]
            begins = [node.lower for node in alike if node.lower is not None]
            return tuple(e for begin in begins for e in replace(one.file, begin, one.file.source(end)))
    return ()


def _held_out(training: Flow, evaluation: Flow) -> FileEdits:
    """Training and evaluation read one part of a split whose other part nobody reads."""
    for step in evaluation:
        node = step.node
        if not isinstance(node, ast.Name) or not any(
            isinstance(other.node, ast.Name) and other.node.id == node.id and other.file is step.file
            for other in training
        ):
            continue
        bound = binding_of(step.file, node)
        target = (
            bound.statement.targets[0]
            if bound is not None and isinstance(bound.statement, ast.Assign)
            else None
        )
        if bound is None or not isinstance(target, ast.Tuple) or not isinstance(bound.value, ast.Call):
            continue
        names = [part.id for part in target.elts if isinstance(part, ast.Name)]
        how = last_name(bound.value.func)
        if len(names) != len(target.elts) or node.id not in names:
            continue
        if how not in ("random_split", "train_test_split"):
            continue
        place = names.index(node.id)
        other = names[place + 1] if how == "train_test_split" and place % 2 == 0 else None
        if how == "random_split":
            other = next((name for name in names if name != node.id and not _is_read(step.file, name)), None)
        if other is None or _is_read(step.file, other) or _trains(training, node):
            continue
        edits = replace(step.file, node, other)
        if how == "train_test_split" and len(names) >= 4 and place == 0:
            statement = step.file.statement(node)
            for part in inside(statement, ast.Name):
                if part.id == names[2]:
                    edits = (*edits, *replace(step.file, part, names[3]))
        return edits
    return ()


def _trains(training: Flow, node: ast.expr) -> bool:
    """Whether training goes through this very place as well."""
    return any(step.node is node for step in training)


def _is_read(file: File, name: str) -> bool:
    return bool(uses_of(file.tree, name))
