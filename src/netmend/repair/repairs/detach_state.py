"""R108."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.source import Function
from netmend.repair.carried_state import carried, detached, form_of
from netmend.repair.code import File
from netmend.repair.loop_code import Spot, in_block, loops_around, reached_from, spots
from netmend.repair.repair import Case, Example, change, register
from netmend.repair.writing import delete_argument, insert_after, insert_before
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FREE, Change, FileEdits

_HEAD = """
import torch
from torch import nn
"""


@register
@dataclass(frozen=True)
class DetachState:
    """Detach the state that is carried from one step to the next.

    Behind the backward pass the values of a hidden state are still wanted, its graph is not. A state that the model keeps in an
    attribute is detached where `forward` takes it up. `retain_graph=True` is taken away with it.
    """

    code: ClassVar[str] = "R108"
    cures: ClassVar[tuple[str, ...]] = ("LOOP-DETACH",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        backward = next(iter(spots(case, "backward")), None)
        if backward is None:
            return
        edits = self._in_loop(case, backward) or self._in_model(case, backward)
        if edits:
            edits += self._freed(backward)
        yield from change(self, case, "detach the state that is carried on", edits, knob="carried state")

    def _in_loop(self, case: Case, backward: Spot) -> FileEdits:
        # The backward pass may stand in a helper: the loop is where that is called.
        for file, call in reached_from(case.code, backward.file, backward.call):
            statement = file.statement(call)
            for loop in (
                loops_around(file, call) if isinstance(call, ast.Call) and statement is not None else ()
            ):
                names = carried(loop, call)
                if names and statement is not None and not isinstance(statement, ast.Return):
                    return insert_after(file, statement, self._text(case, file, call, loop, names))
        return ()

    def _text(self, case: Case, file: File, call: ast.AST, loop: ast.AST, names: list[str]) -> str:
        pair = _is_pair(case)
        lines = []
        for name in names:
            form = form_of(case.code, file, name, call, pair)
            # `out, (h, c) = lstm(x, (h, c))`: the parts have names of their own.
            is_part = len(names) > 1 and form == "tuple" and _is_part(file, loop, name)
            lines.append(detached(name, "tensor" if is_part else form))
        return "\n".join(lines)

    def _in_model(self, case: Case, backward: Spot) -> FileEdits:
        """`self.hidden` that `forward` reads and sets again."""
        for file in case.code.files(backward.file.file):
            for function in ast.walk(file.tree):
                if not isinstance(function, Function) or function.name not in ("forward", "step", "__call__"):
                    continue
                for name in _kept(file, function):
                    return self._taken_up(case, file, function, name)
        return ()

    def _taken_up(self, case: Case, file: File, function: Function, name: str) -> FileEdits:
        reads = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and file.source(node) == name
        ]
        owner = file.owner(function) or function
        starts = [
            node for node in ast.walk(owner) if isinstance(node, ast.Assign) and _sets(file, node, name)
        ]
        may_be_none = any(
            isinstance(node.value, ast.Constant) and node.value.value is None for node in starts
        )
        form = "tuple" if _is_pair(case) else "tensor"
        for node in starts:
            if isinstance(node.value, ast.Tuple):
                form = "tuple"
        text = detached(name, form)
        for read in sorted(reads, key=lambda node: node.lineno):
            statement = in_block(file, function.body, read)
            if statement is None:
                return ()
            if isinstance(statement, ast.If) and _starts(file, statement, read, name):
                return insert_after(file, statement, text)  # from here on it is there
            if may_be_none:
                text = f"if {name} is not None:\n    {text}"
            return insert_before(file, statement, text)
        return ()

    def _freed(self, backward: Spot) -> FileEdits:
        for keyword in backward.call.keywords:
            if keyword.arg == "retain_graph":
                return delete_argument(backward.file, backward.call, keyword)
        return ()

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a hidden state that goes from batch to batch",
            before=_HEAD
            + """
model = nn.GRU(2, 3, batch_first=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
state = torch.zeros(1, 4, 3)
for step in range(4):
    optimizer.zero_grad()
    out, state = model(torch.ones(4, 5, 2), state)
    loss = out.mean()
    loss.backward()
    optimizer.step()
""",
            old="    loss.backward()\n",
            new="    loss.backward()\n    state = state.detach()\n",
            mark="out, state",
            raises=True,
        ),
        Example(
            "both parts of an LSTM's state; the graph is kept no longer",
            before=_HEAD
            + """
model = nn.LSTM(2, 3, batch_first=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
state = None
for step in range(4):
    optimizer.zero_grad()
    out, state = model(torch.ones(4, 5, 2), state)
    out.mean().backward(retain_graph=True)
    optimizer.step()
""",
            old="    out.mean().backward(retain_graph=True)\n",
            new="    out.mean().backward()\n    state = tuple(part.detach() for part in state)\n",
            mark="out, state",
            raises=True,
        ),
        Example(
            "kept by the model",
            before=_HEAD
            + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 3)
        self.hidden = None

    def forward(self, x):
        if self.hidden is None:
            self.hidden = torch.zeros(len(x), 3)
        self.hidden = self.cell(x, self.hidden)
        return self.hidden

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
""",
            old="        self.hidden = self.cell",
            new="        self.hidden = self.hidden.detach()\n        self.hidden = self.cell",
            mark="model(torch.ones",
            raises=True,
        ),
        Example(
            "it starts anew with every batch",
            before=_HEAD
            + """
model = nn.GRU(2, 3, batch_first=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    state = torch.zeros(1, 4, 3)
    out, state = model(torch.ones(4, 5, 2), state)
    out.mean().backward()
    optimizer.step()
""",
            mark="out, state",
        ),
    )


def _is_pair(case: Case) -> bool:
    """Whether the recurrent layers are LSTMs, whose state has two parts."""
    kinds = {module.kind for module in case.trace.all(ModuleFact)}
    return any("LSTM" in kind for kind in kinds) and not any(
        "GRU" in kind or kind[:3] == "RNN" for kind in kinds
    )


def _is_part(file: File, loop: ast.AST, name: str) -> bool:
    """Whether a name is set within an inner tuple: `(h, c)`."""
    return any(
        isinstance(node, ast.Tuple)
        and isinstance(node.ctx, ast.Store)
        and isinstance(file.parent(node), ast.Tuple | ast.Assign)
        and any(isinstance(part, ast.Name) and part.id == name for part in node.elts)
        and len(node.elts) == 2
        and all(isinstance(part, ast.Name) for part in node.elts)
        for node in ast.walk(loop)
    )


def _kept(file: File, function: Function) -> list[str]:
    """Attributes that a method both reads and sets, from something computed."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                        name = file.source(part)
                        read = any(
                            isinstance(other, ast.Attribute)
                            and isinstance(other.ctx, ast.Load)
                            and file.source(other) == name
                            for other in ast.walk(node.value)
                        )
                        cut = any(
                            isinstance(other, ast.Attribute) and other.attr in ("detach", "data")
                            for other in ast.walk(node.value)
                        )
                        if read and not cut:
                            found.append(name)
    return list(dict.fromkeys(found))


def _starts(file: File, statement: ast.If, read: ast.AST, name: str) -> bool:
    """`if self.h is None: self.h = …`."""
    return (
        any(node is read for node in ast.walk(statement.test))
        and not statement.orelse
        and any(_sets(file, inner, name) for inner in statement.body)
    )


def _sets(file: File, node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(part, ast.Attribute) and file.source(part) == name
        for target in node.targets
        for part in ast.walk(target)
    )
