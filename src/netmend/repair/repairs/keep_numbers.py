"""R109."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, names_in, spots
from netmend.program.source.writing import wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_JOIN = ("stack", "cat", "vstack", "hstack", "concat")
_COLLECT = ("append", "appendleft", "extend", "add")


_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    setup="losses, total = [], 0.0",
    loop="for step in range(4)",
    loss="model(torch.ones(4, 2)).square().mean()",
)


class KeepNumbers(Repair, code="R109", cures=("TRN-MEM",)):
    """Keep the value of a loss instead of the tensor with its graph.

    `losses.append(loss)` and `total += loss` hold the graphs of all steps; `loss.item()` holds a number. Where what is collected
    is used as a tensor later on, it becomes `loss.detach()`.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = case.code.statement_at(case.site)
        if found is None:
            return
        file, statement = found
        first = _kept(statement)
        backward = next((each for each in spots(case, "backward") if each.file.file == file.file), None)
        losses = set() if backward is None else names_in(backward.call.func)
        edits: FileEdits = ()
        if first and backward is not None and not _passed_back(file, statement, case):
            edits = self._edits(file, statement, losses)
            scope = file.loop(statement) or file.tree
            # The same loss may be kept in several places; each one holds the graph.
            for other in inside(scope, ast.stmt):
                if other is statement:
                    continue
                if any(_part(value, losses) for value in _kept(other)) and not _feeds(file, backward, other):
                    edits += self._edits(file, other, losses)
        yield from self.change(case, "keep numbers instead of tensors", edits, knob="kept values")

    def _edits(self, file: File, statement: ast.stmt, losses: set[str]) -> FileEdits:
        edits: FileEdits = ()
        for value in _kept(statement):
            part = _part(value, losses)
            node = part if part is not None else value
            if isinstance(node, ast.Constant | ast.Tuple | ast.List | ast.Dict) or _is_cut(node):
                continue
            is_loss = part is not None or _is_loss_call(node)
            holder = _holder(file, statement)
            method = "item" if is_loss and not _used_as_tensor(file, statement, holder) else "detach"
            edits += wrap(file, node, "", f".{method}()")
        return edits

    EXAMPLES = {
        "collected in a list and added up": _example(
            after_step="losses.append⟨(loss) → (loss.item())⟩\ntotal += ⟨loss * 4 → loss.item() * 4⟩"
        ),
        "used as a tensor later": _example(
            after_step="losses.append(⟨loss → loss.detach()⟩)", end="print(torch.stack(losses).mean())"
        ),
        "outputs are no numbers": _example(
            after_step="out = model(torch.ones(4, 2))\nlosses.append(⟨out → out.detach()⟩)"
        ),
        "a number already": _example(after_step="⟨losses.append(loss.item())⟩"),
        "passed back together": _example(
            helpers="total = 0.0",
            optimizer="",
            setup="",
            loss="",
            step="⟨total += model(torch.ones(4, 2)).square().mean()⟩",
            end="total.backward()",
        ),
    }


def _kept(statement: ast.stmt) -> list[ast.expr]:
    """The values that a statement keeps: adds up, collects, or stores under a key."""
    if isinstance(statement, ast.AugAssign):
        return [statement.value]
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            return [statement.value]
        if isinstance(statement.value, ast.BinOp) and isinstance(target, ast.Name | ast.Attribute):
            own = last_name(target)
            left, right = statement.value.left, statement.value.right
            if isinstance(left, ast.Name | ast.Attribute) and last_name(left) == own:
                return [right]
        return []
    call = statement.value if isinstance(statement, ast.Expr) else None
    if (
        isinstance(call, ast.Call)
        and last_name(call.func) in _COLLECT
        and isinstance(call.func, ast.Attribute)
    ):
        found: list[ast.expr] = []
        for given in call.args:
            found += given.elts if isinstance(given, ast.Tuple | ast.List) else [given]
        return found
    return []


def _part(value: ast.expr, names: set[str]) -> ast.expr | None:
    """The tensor within a kept value: `loss` of `loss * n`."""
    if isinstance(value, ast.Name):
        return value if value.id in names else None
    if isinstance(value, ast.BinOp):
        return _part(value.left, names) or _part(value.right, names)
    if isinstance(value, ast.Attribute) and last_name(value) in names and isinstance(value.value, ast.Name):
        return value
    return None


def _is_cut(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in (
            "item",
            "detach",
            "float",
            "int",
            "tolist",
            "numpy",
            "cpu",
            "len",
            "round",
        )
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _is_loss_call(node: ast.expr) -> bool:
    """`criterion(out, y)`: a call with several arguments whose value is kept is a loss."""
    return isinstance(node, ast.Call) and len(node.args) + len(node.keywords) > 1


def _holder(file: File, statement: ast.stmt) -> str:
    """What the values are kept in: `losses`, `self.history["loss"]`."""
    if isinstance(statement, ast.AugAssign):
        return file.source(statement.target)
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return file.source(target.value if isinstance(target, ast.Subscript) else target)
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    return file.source(func.value) if isinstance(func, ast.Attribute) else ""


def _used_as_tensor(file: File, statement: ast.stmt, holder: str) -> bool:
    """Whether something is done with what was kept that a number does not offer."""
    for node in inside(file.tree, ast.Attribute, ast.Call):
        if isinstance(node, ast.Attribute) and node.attr not in (
            *_COLLECT,
            "clear",
            "sort",
            "copy",
            "index",
            "pop",
            "keys",
            "items",
            "values",
        ):
            base: ast.expr = node.value
            while isinstance(base, ast.Subscript) and file.source(base) != holder:
                base = base.value
            if file.source(base) == holder:
                return True
        if (
            isinstance(node, ast.Call)
            and last_name(node.func) in _JOIN
            and any(holder in file.source(given) for given in node.args)
        ):
            return True
    return False


def _passed_back(file: File, statement: ast.stmt, case: Case) -> bool:
    """Whether backward() is called on what is kept."""
    holder = _holder(file, statement)
    return any(holder and holder in each.file.source(each.call.func) for each in spots(case, "backward"))


def _feeds(file: File, backward: Spot, statement: ast.stmt) -> bool:
    """Whether a statement makes the loss itself: `loss += penalty` before backward()."""
    holder = _holder(file, statement)
    return holder in {file.source(node) for node in inside(backward.call.func, ast.expr)}
