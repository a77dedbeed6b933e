"""R108."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.carried_state import carried, detached
from netmend.changes.loop.loop_code import Spot, spots
from netmend.program.source.writing import delete_argument, insert_after, insert_before
from netmend.program.text.file import File, in_block
from netmend.program.text.queries import Function, holds, inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import Change, FileEdits

_example = partial(
    example,
    model="nn.GRU(2, 3, batch_first=True)",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for step in range(4)",
    raises=True,
)


class DetachState(Repair, code="R108", cures=("LOOP-DETACH",)):
    """Detach the state that is carried from one step to the next.

    Behind the backward pass the values of a hidden state are still wanted, its graph is not. A state that the model keeps in an
    attribute is detached where `forward` takes it up. `retain_graph=True` is taken away with it.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        backward = next(iter(spots(case, "backward")), None)
        if backward is None:
            return
        edits = self._in_loop(case, backward) or self._in_model(case, backward)
        if edits:
            edits += self._freed(backward)
        yield from self.change(case, "detach the state that is carried on", edits, knob="carried state")

    def _in_loop(self, case: Case, backward: Spot) -> FileEdits:
        found = carried(case, backward)
        if found is None:
            return ()
        file, statement, states = found
        # `out, (h, c) = lstm(x, (h, c))`: the parts have names of their own.
        pair = _is_pair(case) and len(states) == 1
        return insert_after(file, statement, "\n".join(state.detached(pair) for state in states))

    def _in_model(self, case: Case, backward: Spot) -> FileEdits:
        """`self.hidden` that `forward` reads and sets again."""
        for file in case.code.files(backward.file.file):
            for function in inside(file.tree, ast.FunctionDef, ast.AsyncFunctionDef):
                if function.name == "__init__":
                    continue
                for name in _kept(file, function):
                    if backward.file.function(backward.call) is function:
                        owner = file.owner(function) or function
                        text = detached(name, self._form(case, file, owner, name))
                        return insert_after(file, backward.statement, text)
                    return self._taken_up(case, file, function, name)
        return ()

    def _taken_up(self, case: Case, file: File, function: Function, name: str) -> FileEdits:
        reads = [
            node
            for node in inside(function, ast.Attribute)
            if isinstance(node.ctx, ast.Load) and file.source(node) == name
        ]
        owner = file.owner(function) or function
        starts = [node for node in inside(owner, ast.Assign) if _sets(file, node, name)]
        may_be_none = any(
            isinstance(node.value, ast.Constant) and node.value.value is None for node in starts
        )
        text = detached(name, self._form(case, file, owner, name))
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

    def _form(self, case: Case, file: File, owner: ast.AST, name: str) -> str:
        starts = [node for node in inside(owner, ast.Assign) if _sets(file, node, name)]
        is_tuple = any(isinstance(node.value, ast.Tuple) and len(node.targets) == 1 for node in starts)
        return "tuple" if is_tuple or _is_pair(case) else "tensor"

    def _freed(self, backward: Spot) -> FileEdits:
        for keyword in backward.call.keywords:
            if keyword.arg == "retain_graph":
                return delete_argument(backward.file, backward.call, keyword)
        return ()

    EXAMPLES = {
        "a hidden state that goes from batch to batch": _example(
            setup="state = torch.zeros(1, 4, 3)",
            outputs="⟨out, state = model(torch.ones(4, 5, 2), state)⟩",
            loss="out.mean()",
            after_backward="+ state = state.detach()",
        ),
        "both parts of an LSTM's state; the graph is kept no longer": _example(
            model="nn.LSTM(2, 3, batch_first=True)",
            setup="state = None",
            step="""
                optimizer.zero_grad()
                ⟨out, state = model(torch.ones(4, 5, 2), state)⟩
                out.mean().backward(⟨retain_graph=True → ⟩)
                + state = tuple(part.detach() for part in state)
                optimizer.step()""",
        ),
        "kept by the model": _example(
            layers="self.cell = nn.GRUCell(2, 3)\nself.hidden = None",
            forward="""
                if self.hidden is None:
                    self.hidden = torch.zeros(len(x), 3)
                + self.hidden = self.hidden.detach()
                self.hidden = self.cell(x, self.hidden)
                return self.hidden""",
            backward="⟨model(torch.ones(4, 2)).mean()⟩",
        ),
        "kept by the trainer": example(
            """
                class Learner:
                    def __init__(self):
                        self.net, self.hidden = nn.LSTM(2, 3, batch_first=True), None
                        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.01)
                    def update(self, x):
                        ⟨out, self.hidden = self.net(x, self.hidden)⟩
                        self.opt.zero_grad()
                        out.mean().backward()
                        + self.hidden = tuple(part.detach() for part in self.hidden)
                        self.opt.step()
                learner = Learner()
                for step in range(4):
                    learner.update(torch.ones(4, 5, 2))""",
            raises=True,
        ),
        "it starts anew with every batch": _example(
            outputs="state = torch.zeros(1, 4, 3)\n⟨out, state = model(torch.ones(4, 5, 2), state)⟩",
            backward="out.mean()",
            raises=False,
        ),
    }


def _is_pair(case: Case) -> bool:
    """Whether the recurrent layers are LSTMs, whose state has two parts."""
    kinds = {module.kind for module in case.trace.all(ModuleFact)}
    return any("LSTM" in kind for kind in kinds) and not any(
        "GRU" in kind or kind[:3] == "RNN" for kind in kinds
    )


def _kept(file: File, function: Function) -> list[str]:
    """Attributes that a method hands to a call and sets again from what that returns."""
    found = []
    for node in inside(function, ast.Assign):
        if _is_cut(node.value):
            continue
        given = {
            file.source(part)
            for call in inside(node.value, ast.Call)
            if last_name(call.func) not in ("len", "int", "float", "max", "min")
            for argument in (*call.args, *(keyword.value for keyword in call.keywords))
            for part in inside(argument, ast.Attribute)
        }
        if function.name == "forward":  # `self.trace = 0.9 * self.trace + x`
            given |= {file.source(part) for part in inside(node.value, ast.Attribute)}
        for part in (part for target in node.targets for part in inside(target, ast.Attribute)):
            if isinstance(part.ctx, ast.Store):
                found += [file.source(part)] if file.source(part) in given else []
    return list(dict.fromkeys(found))


def _is_cut(value: ast.expr) -> bool:
    return any(part.attr in ("detach", "data", "item") for part in inside(value, ast.Attribute))


def _starts(file: File, statement: ast.If, read: ast.AST, name: str) -> bool:
    """`if self.h is None: self.h = …`."""
    return (
        holds(statement.test, read)
        and not statement.orelse
        and any(_sets(file, inner, name) for inner in statement.body)
    )


def _sets(file: File, node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(
        file.source(part) == name for target in node.targets for part in inside(target, ast.Attribute)
    )
