"""R117."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import assigned_names, names_in
from netmend.changes.network.layers_in_forward import (
    LAYERS,
    free_name,
    function_gone,
    is_made_anew,
    is_property,
    spans_line,
    width_of,
    with_numbers,
)
from netmend.program.source.moving import taken_out
from netmend.program.source.writing import insert_after, replace
from netmend.program.text.file import File
from netmend.program.text.queries import Function, last_name, uses_of
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.unit import snake_case
from netmend.vocabulary.change import FREE, Change, FileEdits

_example = partial(
    example,
    model="Net()",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    backward="model(torch.ones(4, 2)).mean()",
)


@register
@dataclass(frozen=True)
class LayerMadeOnce:
    """Create a layer in `__init__` instead of in `forward`.

    A layer that is made on every call has new random weights each time, and no optimiser knows them. It becomes an attribute of
    the model; a width that was computed in `forward` is written as the number it had.
    """

    code: ClassVar[str] = "R117"
    cures: ClassVar[tuple[str, ...]] = ("ARC-INIT-MULTI",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        site = None if case.fault is None else case.fault.site
        file = None if site is None else case.code.file(str(case.sources.path(site.file)))
        if file is None or site is None:
            return
        found = [call for call in file.calls(*LAYERS) if is_made_anew(file, call)]
        here = [call for call in found if spans_line(file.statement(call), site.line)]
        if not here:  # the line may be the one that calls it
            around = next((c for c in found if spans_line(file.function(c), site.line)), None)
            kind = case.fault.component if case.fault is not None else ""
            names = [last_name(c.func) for c in file.calls(inside=around)] if around is not None else []
            here = [around] if around is not None and any(f"{name}@" in kind for name in names) else []
        if not here and case.fault is not None:  # a property of the same class
            made = [
                c for c in found if is_property(file.function(c)) and spans_line(file.owner(c), site.line)
            ]
            kind = case.fault.component
            here = [c for c in made if f"{last_name(c.func)}@" in kind or last_name(c.func) == "Sequential"][
                :1
            ]
        for call in here:
            function, owner = file.function(call), file.owner(call)
            assert function is not None and owner is not None
            yield from change(
                self,
                case,
                f"create {last_name(call.func)} once, in __init__",
                self._edits(case, file, owner, function, call),
                knob=f"{last_name(call.func)} creation",
            )

    def _edits(
        self, case: Case, file: File, owner: ast.ClassDef, function: Function, call: ast.Call
    ) -> FileEdits:
        start = next((s for s in owner.body if isinstance(s, Function) and s.name == "__init__"), None)
        if start is None or not start.args.args or file.loop(call) is not None or not function.args.args:
            return ()
        me, here = start.args.args[0].arg, function.args.args[0].arg
        if function.name != "forward" and not is_property(function):
            calls = list(file.calls(function.name, inside=owner))
            if len(calls) > 1 or any(file.loop(each) is not None for each in calls):
                return ()  # one layer for each call
        text = self._text(case, file, function, call, here)
        if not text:
            return ()
        if here != me:
            text = text.replace(f"{here}.", f"{me}.")
        parent = file.parent(call)
        if is_property(function) and isinstance(parent, ast.Return) and len(function.body) == 1:
            return (
                *function_gone(file, function),
                *insert_after(file, start.body[-1], f"{me}.{function.name} = {text}"),
            )
        name = free_name(file, owner, snake_case(last_name(call.func)))
        edits: FileEdits = ()
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name | ast.Attribute):
            target = parent.targets[0]
            if isinstance(target, ast.Attribute):
                return (
                    *taken_out(file, parent),
                    *insert_after(file, start.body[-1], f"{file.source(target)} = {text}"),
                )
            name = free_name(file, owner, target.id)
            uses = uses_of(function, target.id)
            edits = taken_out(file, parent)
            for use in uses:
                edits += replace(file, use, f"{here}.{name}")
        else:
            edits = replace(file, call, f"{here}.{name}")
        return (*edits, *insert_after(file, start.body[-1], f"{me}.{name} = {text}"))

    def _text(self, case: Case, file: File, function: Function, call: ast.Call, here: str) -> str:
        """The call as `__init__` can make it; "" when it needs something that only forward knows."""
        local = assigned_names(function) | {a.arg for a in function.args.args if a.arg != here}
        text = file.source(call)
        if last_name(call.func) == "Sequential" or function.name != "forward":
            return with_numbers(case, file, function, call, local)
        for value in sorted((*call.args, *(k.value for k in call.keywords)), key=lambda v: -v.col_offset):
            if names_in(value) & local:
                width = width_of(case, file, function, call) if value in call.args[:1] else None
                source = file.source(value)
                if width is None or text.count(source) != 1:
                    return ""
                text = text.replace(source, str(width))
        return text

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "called where it is made",
            layers="self.head = nn.Linear(4, 1)\n+ self.linear = nn.Linear(2, 4)",
            forward="x = torch.relu(⟨nn.Linear(x.size(1), 4) → self.linear⟩(x))\nreturn self.head(x)",
            mark="torch.relu",
        ),
        _example(
            "with a name of its own",
            data="""
                class Net(nn.Module):
                    def __init__(self, hidden=4):
                        super().__init__()
                        self.hidden = hidden
                        self.head = nn.Linear(hidden, 1)
                        + self.body = nn.Linear(2, self.hidden)
                    def forward(self, x):
                        - body = nn.Linear(2, self.hidden)
                        return self.head(⟨ → self.⟩body(x))""",
            optimizer="",
            backward="",
            step="model(torch.ones(4, 2)).mean().backward()",
            mark="body = nn.Linear",
        ),
        _example(
            "made in __init__",
            layers="⟨self.head = nn.Linear(2, 1)⟩",
            forward="return self.head(x)",
            optimizer="",
            backward="",
            step="model(torch.ones(4, 2)).mean().backward()",
        ),
        _example(
            "a property",
            data="""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.first = nn.Linear(2, 4)
                    - @property
                    - def last(self):
                        ⟨return → self.last =⟩ nn.Linear(4, 1)
                    def forward(self, x):
                        ⟨return self.last(self.first(x))⟩""",
            component="model.(Linear@train.py:18)",
        ),
        _example(
            "in a method that forward calls",
            data="""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.first = nn.Linear(2, 4)
                        + self.layer = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
                    def block(self, h, width):
                        - layer = nn.Sequential(nn.Linear(h.shape[-1], width), nn.ReLU())
                        return ⟨ → self.⟩layer(h)
                    def forward(self, x):
                        h = self.first(x)
                        return self.block(h, 3)""",
            mark="layer = nn.Sequential",
        ),
    )
