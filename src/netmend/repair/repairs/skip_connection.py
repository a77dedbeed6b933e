"""R317."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack, layers_of, model_of_fault, united
from netmend.program.source.writing import insert_before, wrap
from netmend.program.text.file import File
from netmend.program.text.positions import lines_of
from netmend.program.text.queries import holds, last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import ModuleFact, Site
from netmend.vocabulary.change import ARCHITECTURE, Change, FileEdits

_CLASS = '''class Residual({base}):
    """Adds what goes in to what comes out."""

    def forward(self, x):
        return x + super().forward(x)

'''


_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loss="nn.functional.mse_loss(model(torch.randn(4, 8)), torch.ones(4, 1))",
)


@register
@dataclass(frozen=True)
class SkipConnection:
    """Add the input of a layer to its output, in a deep plain stack.

    Signals and gradients pass along the sum unhindered, however deep the network is. Only layers whose input and output
    are equally wide get one.
    """

    code: ClassVar[str] = "R317"
    cures: ClassVar[tuple[str, ...]] = ("LYR-NORM-MISSING",)
    effort: ClassVar[int] = ARCHITECTURE
    explores: ClassVar[bool] = False

    least: int = 7  # layers; shallower networks train without

    def propose(self, case: Case) -> Iterator[Change]:
        layers = layers_of(case, model_of_fault(case))
        if len(layers) < self.least:
            return
        sites: dict[Site, list[ModuleFact]] = {}
        for layer in layers[:-1]:
            place = layer.created if in_stack(case, layer) else layer.called
            if place is not None:
                sites.setdefault(place, []).append(layer)
        square = {
            site: found
            for site, found in sites.items()
            if all(layer.input_shapes == layer.output_shapes for layer in found)
        }
        parts = [
            self._in_stack(case, site) if in_stack(case, found[0]) else self._in_forward(case, site)
            for site, found in square.items()
        ]
        edits = united(parts)
        yield from change(
            self, case, "skip connections around the hidden layers", edits, knob="skip connections"
        )

    @staticmethod
    def _in_forward(case: Case, site: Site) -> FileEdits:
        """`x = torch.relu(layer(x))` → `x = x + torch.relu(layer(x))`."""
        found = case.code.call_at(site)
        statement = found[0].statement(found[1]) if found is not None else None
        if (
            found is None
            or not isinstance(statement, ast.Assign)
            or not isinstance(statement.targets[0], ast.Name)
        ):
            return ()
        file, call = found
        name = statement.targets[0].id
        if not call.args or file.source(call.args[0]) != name:
            return ()
        return (
            wrap(file, statement.value, f"{name} + ", "")
            if not isinstance(statement.value, ast.BinOp)
            else ()
        )

    def _in_stack(self, case: Case, site: Site) -> FileEdits:
        """`nn.Linear(w, w), nn.ReLU()` → `Residual(nn.Linear(w, w), nn.ReLU())`."""
        found = case.code.call_at(site)
        if found is None:
            return ()
        file, call = found
        parent = file.parent(call)
        parts: list[ast.expr] = parent.elts if isinstance(parent, ast.List) else []
        if isinstance(parent, ast.Call) and last_name(parent.func) == "Sequential":
            parts = parent.args
        following = parts[parts.index(call) + 1] if call in parts[:-1] else None
        if not isinstance(following, ast.Call) or not last_name(following.func).endswith(
            ("LU", "Tanh", "Sigmoid")
        ):
            return ()
        lines, first, last = lines_of(file.text), file.place(call), file.place(following)
        start, end = lines.offset(first.line, first.column), lines.offset(last.end_line, last.end_column)
        made = self._class(file, call)
        if start is None or end is None or not made:
            return ()
        return (*file.edits(lines.edit(start, start, "Residual("), lines.edit(end, end, ")")), *made)

    @staticmethod
    def _class(file: File, call: ast.Call) -> FileEdits:
        """The new class, before the first definition of the file that needs it."""
        base = file.source(call.func).rpartition(".")[0]
        top = [node for node in file.tree.body if holds(node, call)]
        if (
            not base
            or not top
            or any(isinstance(n, ast.ClassDef) and n.name == "Residual" for n in file.tree.body)
        ):
            return ()
        made = insert_before(file, top[0], _CLASS.format(base=f"{base}.Sequential"))
        return tuple(replace(one, edit=replace(one.edit, text=f"{one.edit.text}\n\n")) for one in made)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a loop in forward",
            layers="""
                self.rest = nn.ModuleList([nn.Linear(8, 8) for _ in range(9)])
                self.last = nn.Linear(8, 1)""",
            forward="""
                for layer in self.rest:
                    x = ⟨ → x + ⟩torch.relu(layer(x))
                return self.last(x)""",
            component="model.rest.0",
        ),
        _example(
            "a shallow network",
            layers="self.rest = nn.Linear(8, 8)\nself.last = nn.Linear(8, 1)",
            forward="⟨x = torch.relu(self.rest(x))⟩\nreturn self.last(x)",
            component="model.rest",
        ),
    )
