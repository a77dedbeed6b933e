"""R510."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.batch_order import first_index
from netmend.changes.data.data_holders import Holder, holders, training_inputs, training_targets
from netmend.changes.data.data_origins import Flow, Step
from netmend.program.source.bindings import binding_of
from netmend.program.source.moving import taken_out
from netmend.program.source.naming import new_variable
from netmend.program.source.writing import delete_statement, insert_after, insert_before, replace
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_DRAWS = ("randperm", "permutation")
_SAMPLES = (["0"], ["(0,)"], ["[0]"])


@dataclass(frozen=True)
class _Move:
    """Data that is put into another order: by an index, or in place."""

    file: File
    statement: ast.stmt
    order: ast.expr | None  # the index; None: `shuffle(x)` in place
    name: str = ""  # what is shuffled in place
    draw: str = ""  # the call that would draw an order instead


_example = partial(
    example,
    begin="""
    rng = np.random.default_rng(0)
    label = np.arange(24) % 2
    table = (rng.normal(size=(24, 4)) + label[:, None]).astype(np.float32)""",
    model="nn.Linear(4, 2)",
    loop="for start in range(0, 24, 8)",
    backward="nn.functional.cross_entropy(model(x[start : start + 8]), y[start : start + 8])",
)


class LabelsAlignment(
    Repair, code="R510", cures=("DAT-LABEL", "HYP-BATCH-IMPL"), knob="label order", explores=True
):
    """Put inputs and labels into one and the same order.

    Where only one of them is shuffled, or each by an order of its own, labels no longer belong to their inputs. One permutation is
    drawn and used for both; a label that was shifted on purpose or by mistake is left where it was.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        inputs, targets = training_inputs(case)[:1], training_targets(case)[:1]
        if not targets:
            return
        first = _moves(case, inputs[0]) if inputs else []
        second = _moves(case, targets[0])
        edits: FileEdits = ()
        if first and second:
            edits = _one_order(first[0], second[0])
        elif first and inputs:
            edits = _moved_too(first[0], targets[0])
        elif second and inputs:
            edits = _moved_too(second[0], inputs[0])
        yield from self.change(case, "one order for inputs and labels", edits)
        if not edits:
            yield from self.change(case, "leave the labels as they were", _not_moved(inputs, targets[0]))

    EXAMPLES = {
        "rolled in the loop": _example(
            begin="",
            data="torch.manual_seed(0)\nx, y = torch.randn(24, 4), torch.arange(24) % 2",
            loop="for rows in torch.randperm(24).split(4)",
            backward="",
            step="""
                a, b = x[rows], y[rows]
                - b = b.roll(1)
                optimizer ← nn.functional.cross_entropy(model(a), b)""",
        ),
        "both back to front": _example(
            data="""
                x, y = torch.from_numpy(table), torch.from_numpy(label)""",
            backward="",
            step="""
                a, b = x[start : start + 8], y[start : start + 8]
                optimizer ← ⟨nn.functional.cross_entropy(model(a.flip(0)), b.flip(0))⟩""",
        ),
        **{
            f"labels of a batch in another order: {moved}": _example(
                data="""
                    x, y = torch.from_numpy(table), torch.from_numpy(label)""",
                backward="",
                step=f"""
                    b = y[start : start + 8]
                    optimizer ← nn.functional.cross_entropy(model(x[start : start + 8]), ⟨{moved} → b⟩)""",
            )
            for moved in ("b.flip(0)", "torch.flip(b, (0,))", "b[torch.randperm(len(b))]")
        },
        "inputs shuffled alone, in place": _example(
            data="""
                - rng.shuffle(table)
                + order = rng.permutation(len(table))
                + table, label = table[order], label[order]
                x, y = torch.from_numpy(table), torch.from_numpy(label)"""
        ),
        "both shuffled, each for itself": _example(
            data="""
                - np.random.shuffle(table)
                - np.random.shuffle(label)
                + order = np.random.permutation(len(table))
                + table, label = table[order], label[order]
                x, y = torch.from_numpy(table), torch.from_numpy(label)""",
            mark="shuffle(label)",
        ),
        "two permutations": _example(
            data="""
                - x = torch.from_numpy(table)[torch.randperm(24)]
                - y = torch.from_numpy(label)[torch.randperm(24)]
                + order = torch.randperm(24)
                + x = torch.from_numpy(table)[order]
                + y = torch.from_numpy(label)[order]"""
        ),
        "only the inputs are indexed": _example(
            data="""
                x, y = torch.from_numpy(table), torch.from_numpy(label)
                perm = torch.randperm(24)
                x = x[perm]
                + y = y[perm]"""
        ),
        "one order for both": _example(
            data="""
                x, y = torch.from_numpy(table), torch.from_numpy(label)
                p = torch.randperm(24)
                ⟨x, y = x[p], y[p]⟩"""
        ),
    }


def _moves(case: Case, flow: Flow) -> list[_Move]:
    """Where the data of a flow is put into a random order outside of batch loops."""
    found: list[_Move] = []
    names: list[Holder] = list(holders(flow))
    for step in flow:
        if isinstance(step.node, ast.Subscript) and not step.path and step.file.loop(step.node) is None:
            index = first_index(step.node)
            statement = step.file.statement(step.node)
            if statement is not None and _is_order(step.file, index):
                found.append(_Move(step.file, statement, index))
    for held in names:
        for statement in held.block:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or last_name(call.func) != "shuffle" or len(call.args) != 1:
                continue
            given = call.args[0]
            behind = statement.lineno > held.statement.lineno
            if (
                isinstance(given, ast.Name)
                and given.id == held.name
                and behind
                and isinstance(call.func, ast.Attribute)
            ):
                draw = f"{held.file.source(call.func.value)}.permutation(len({held.name}))"
                if held.file.source(call.func.value) == "random":
                    continue  # lists: indexing them by an order would fail
                if not any(move.statement is statement for move in found):
                    found.append(_Move(held.file, statement, None, held.name, draw))
    return found


def _is_order(file: File, index: ast.expr) -> bool:
    if isinstance(index, ast.Name):
        bound = binding_of(file, index)
        return bound is not None and not bound.path and _is_order(file, bound.value) if bound else False
    return isinstance(index, ast.Call) and last_name(index.func) in _DRAWS


def _one_order(first: _Move, second: _Move) -> FileEdits:
    """Two draws become one."""
    if first.file is not second.file:
        return ()
    file = first.file
    if first.order is None and second.order is None:
        if first.statement is second.statement:
            return ()
        early, late = sorted((first, second), key=lambda move: move.statement.lineno)
        order = new_variable(file, "order", "perm")
        names = [first.name, second.name]
        # The later of the two stays: both names are bound there.
        text = f"{order} = {early.draw}\n{', '.join(names)} = {', '.join(f'{n}[{order}]' for n in names)}"
        return (
            *delete_statement(file, early.statement),
            *replace(file, late.statement, _indented(file, late, text)),
        )
    if first.order is None or second.order is None or (file.source(first.order) == file.source(second.order) and isinstance(first.order, ast.Name)):  # fmt: skip
        return ()
    if file.function(first.order) is not file.function(second.order):
        return ()
    if isinstance(first.order, ast.Name) and first.statement.lineno <= second.statement.lineno:
        return replace(file, second.order, first.order.id)
    if isinstance(second.order, ast.Name):
        return replace(file, first.order, second.order.id)
    early, _ = sorted((first, second), key=lambda move: move.statement.lineno)
    order = new_variable(file, "order", "perm")
    drawn = file.source(early.order) if early.order is not None else ""
    edits = insert_before(file, early.statement, f"{order} = {drawn}")
    for move in (first, second):
        if move.order is not None:
            edits = (*edits, *replace(file, move.order, order))
    return edits


def _indented(file: File, move: _Move, text: str) -> str:
    return text.replace("\n", "\n" + " " * file.place(move.statement).column)


def _moved_too(move: _Move, other: Flow) -> FileEdits:
    """The other one is put into the same order, where it stands beside the one that was moved."""
    file = move.file
    for held in holders(other):
        if held.file is not file or move.statement not in held.block:
            continue
        if held.statement.lineno > move.statement.lineno:
            continue
        if move.order is None:
            order = new_variable(file, "order", "perm")
            text = f"{order} = {move.draw}\n{move.name}, {held.name} = {move.name}[{order}], {held.name}[{order}]"
            return replace(file, move.statement, _indented(file, move, text))
        if isinstance(move.order, ast.Name):
            return insert_after(file, move.statement, f"{held.name} = {held.name}[{move.order.id}]")
        order = new_variable(file, "order", "perm")
        return (
            *insert_before(file, move.statement, f"{order} = {file.source(move.order)}"),
            *replace(file, move.order, order),
            *insert_after(file, move.statement, f"{held.name} = {held.name}[{order}]"),
        )
    return ()


def _not_moved(inputs: list[Flow], targets: Flow) -> FileEdits:
    """The labels without `torch.roll(y, 1)`, `y.flip(0)` or, batch by batch, `y[torch.randperm(len(y))]`, where the inputs are left as they are."""
    if any(_moved(step) is not None for flow in inputs for step in flow):
        return ()
    for step in targets:
        data = _moved(step)
        if data is not None:
            statement, text = step.file.statement(step.node), step.file.source(data)
            whole = isinstance(statement, ast.Assign) and statement.value is step.node
            if whole and isinstance(statement, ast.Assign) and step.file.source(statement.targets[0]) == text:
                return taken_out(step.file, statement)
            return replace(step.file, step.node, text)
    return ()


def _moved(step: Step) -> ast.expr | None:
    """What is rolled, turned back to front or drawn anew in this stage."""
    node = step.node
    if isinstance(node, ast.Subscript):
        index = node.slice
        is_drawn = isinstance(index, ast.Call) and last_name(index.func) in _DRAWS
        return node.value if is_drawn and not step.path and step.file.loop(node) is not None else None
    if not isinstance(node, ast.Call) or last_name(node.func) not in ("roll", "flip", "flipud"):
        return None
    method = isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name)
    data = node.args[0] if node.args and not _is_number(node.args[0]) else None
    axes = [
        value for value in (*node.args, *(keyword.value for keyword in node.keywords)) if value is not data
    ]
    if data is None or method:
        data = node.func.value if isinstance(node.func, ast.Attribute) else None
    if last_name(node.func) == "flip" and [ast.unparse(axis) for axis in axes] not in _SAMPLES:
        return None  # along another axis than that of the samples: pictures are mirrored so
    return data


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.UnaryOp | ast.Tuple | ast.List)
