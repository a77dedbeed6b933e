"""Repairs of layers that are made anew on every call, or that nothing uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import assigned_names, names_in
from netmend.changes.network.layers_in_forward import (
    LAYERS,
    function_gone,
    given_twice,
    is_made_anew,
    is_property,
    spans_line,
    taken_instead,
    width_of,
    with_numbers,
)
from netmend.changes.network.stacks import relu_of
from netmend.localise.lines.values import unused_result
from netmend.program.source.moving import taken_out
from netmend.program.source.naming import new_attribute
from netmend.program.source.writing import insert_after, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name, methods, uses_of
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.unit import snake_case
from netmend.vocabulary import ModuleFact, Site
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_made_example = partial(
    example,
    model="Net()",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    backward="model(torch.ones(4, 2)).mean()",
)


class LayerMadeOnce(Repair, code="R117", cures=("ARC-INIT-MULTI",)):
    """Create a layer in `__init__` instead of in `forward`.

    A layer that is made on every call has new random weights each time, and no optimiser knows them. It becomes an attribute of
    the model; a width that was computed in `forward` is written as the number it had.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        site = case.site
        file = None if site is None else case.code.file(str(case.sources.path(site.file)))
        if file is None or site is None:
            return
        found = [call for call in file.calls(*LAYERS) if is_made_anew(file, call)]
        here = [call for call in found if spans_line(file.statement(call), site.line)]
        if not here:  # the line may be the one that calls it
            around = next((c for c in found if spans_line(file.function(c), site.line)), None)
            kind = case.component
            names = [last_name(c.func) for c in file.calls(inside=around)] if around is not None else []
            here = [around] if around is not None and any(f"{name}@" in kind for name in names) else []
        if not here and case.fault is not None:  # a property of the same class
            made = [
                c for c in found if is_property(file.function(c)) and spans_line(file.owner(c), site.line)
            ]
            kind = case.component
            here = [c for c in made if f"{last_name(c.func)}@" in kind or last_name(c.func) == "Sequential"][
                :1
            ]
        for call in here:
            function, owner = file.function(call), file.owner(call)
            assert function is not None and owner is not None
            yield from self.change(
                case,
                f"create {last_name(call.func)} once, in __init__",
                self._edits(case, file, owner, function, call),
                knob=f"{last_name(call.func)} creation",
            )

    def _edits(
        self, case: Case, file: File, owner: ast.ClassDef, function: Function, call: ast.Call
    ) -> FileEdits:
        start = methods(owner).get("__init__")
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
        name = new_attribute(owner, snake_case(last_name(call.func)))
        edits: FileEdits = ()
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name | ast.Attribute):
            target = parent.targets[0]
            if isinstance(target, ast.Attribute):
                return (
                    *taken_out(file, parent),
                    *insert_after(file, start.body[-1], f"{file.source(target)} = {text}"),
                )
            name = new_attribute(owner, target.id)
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

    EXAMPLES = {
        "called where it is made": _made_example(
            layers="self.head = nn.Linear(4, 1)\n+ self.linear = nn.Linear(2, 4)",
            forward="x = torch.relu(⟨nn.Linear(x.size(1), 4) → self.linear⟩(x))\nreturn self.head(x)",
            mark="torch.relu",
        ),
        "with a name of its own": _made_example(
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
        "made in __init__": _made_example(
            layers="⟨self.head = nn.Linear(2, 1)⟩",
            forward="return self.head(x)",
            optimizer="",
            backward="",
            step="model(torch.ones(4, 2)).mean().backward()",
        ),
        "a property": _made_example(
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
        "in a method that forward calls": _made_example(
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
    }


_connect_example = partial(
    example,
    layers="self.a, self.b, self.c = nn.Linear(2, 4), nn.Linear(4, 4), nn.Linear(4, 1)",
    loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
    component="model.b",
)


class ConnectPart(Repair, code="R307", cures=("ARC-NET-WRONG",), effort=BY_FACTS):
    """Use the result of a part of the network that is computed and thrown away, or call a layer that is never called.

    Where two parts are to be joined and one is given twice, the other takes its place; where the next layer is given
    the value from before, it gets the new one; a layer whose widths fit between two others is called between them.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        part = case.trace.get(ModuleFact, case.component)
        if part is None:
            return
        if part.order is None:
            yield from self._called(case, part)
            return
        found = case.code.call_at(self._thrown_away(case, part))
        function = found[0].function(found[1]) if found is not None else None
        if found is None or function is None:
            return
        file, call = found
        statement = file.statement(call)
        if isinstance(statement, ast.Expr):
            yield from self._kept(case, file, statement, call)
            return
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Name) or statement is None:
            return
        knob = f"use of {part.name}"
        after: list[ast.AST] = [
            node for node in inside(function, ast.expr, ast.stmt) if node.lineno >= statement.lineno
        ]
        for twice in given_twice(file, after, target.id):
            yield from self.change(
                case, f"join `{target.id}` too", replace(file, twice, target.id), knob=knob
            )
            return
        serial = [
            found
            for name in taken_instead(call, statement, after)
            for found in self._passed_on(case, file, part, name, target.id, knob)
        ]
        parallel = list(self._added(case, file, function, part, target.id, knob))
        given = {argument.arg for argument in function.args.args}
        beside = isinstance(call.args[0], ast.Name) and call.args[0].id in given if call.args else False
        yield from (*parallel, *serial) if beside else (*serial, *parallel)

    def _passed_on(
        self, case: Case, file: File, part: ModuleFact, name: ast.Name, new: str, knob: str
    ) -> Iterator[Change]:
        """The next layer gets the part's result, where its width is right, in every copy of the block."""
        around = [
            module
            for module in case.trace.all(ModuleFact)
            if module.called is not None
            and module.called.file == file.file
            and module.called.column is not None
            and (module.called.line, module.called.column) <= (name.lineno, name.col_offset)
            and (name.lineno, name.col_offset) < (module.called.end_line or 0, module.called.end_column or 0)
        ]
        copies = [m for m in case.trace.all(ModuleFact) if m.called == part.called and m.kind == part.kind]
        takers = [m.input_shapes for m in around if m.leaf and m.input_shapes] or [part.input_shapes]
        if all(copy.output_shapes == shapes for copy, shapes in zip(copies, takers, strict=False)):
            edits = replace(file, name, new)
            yield from self.change(case, f"go on with `{new}` instead of `{name.id}`", edits, knob=knob)

    @staticmethod
    def _thrown_away(case: Case, part: ModuleFact) -> Site | None:
        """The call whose result is not used: the part's own, or that of what it stands in."""
        name: str = part.name
        while name:
            fact = case.trace.get(ModuleFact, name)
            if fact is not None and fact.called is not None and unused_result(case.sources, fact.called):
                return fact.called
            name = name.rpartition(".")[0]
        return None

    def _kept(self, case: Case, file: File, statement: ast.Expr, call: ast.Call) -> Iterator[Change]:
        """`self.fc(x)` alone on its line: `x = self.fc(x)`."""
        value = call.args[0] if call.args else None
        if statement.value is call and isinstance(value, ast.Name):
            edits = replace(file, statement, f"{value.id} = {file.source(statement)}")
            yield from self.change(
                case, f"assign the result to `{value.id}`", edits, knob=f"use of {value.id}"
            )

    def _added(
        self, case: Case, file: File, function: Function, part: ModuleFact, name: str, knob: str
    ) -> Iterator[Change]:
        """A way around other layers: its result is added to what is returned, where the shapes agree."""
        owner = file.owner(function)
        block = next(
            (m for m in case.trace.all(ModuleFact) if owner and m.kind == owner.name and m.output_shapes),
            None,
        )
        returns = [node for node in inside(function, ast.Return) if node.value is not None]
        if block is None or len(returns) != 1 or part.output_shapes != block.output_shapes:
            return
        value = returns[0].value
        assert value is not None
        inner = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 else value
        if not isinstance(inner, ast.Name):
            inner = value
        edits = wrap(file, inner, "", f" + {name}")
        yield from self.change(case, f"add `{name}` to the result", edits, knob=knob)

    def _called(self, case: Case, part: ModuleFact) -> Iterator[Change]:
        """A layer that is never called: between the two layers that its widths fit to."""
        inside, outside = part.settings.get("in_features"), part.settings.get("out_features")
        holder = part.name.rpartition(".")[0]
        attribute = part.name.rpartition(".")[2]
        if inside is None or inside != outside:
            return
        modules = [m for m in case.trace.all(ModuleFact) if m.name.rpartition(".")[0] == holder]
        before = modules[: modules.index(part)]
        after = [
            m for m in modules[len(before) + 1 :] if m.settings.get("in_features") == outside and m.called
        ]
        made = any(m.settings.get("out_features") == inside for m in before)
        found = case.code.call_at(after[0].called) if after and made else None
        if found is None or not found[1].args:
            return
        file, call = found
        relu, extra = relu_of(file)
        edits = (*wrap(file, call.args[0], f"{relu}(self.{attribute}(", "))"), *extra)
        yield from self.change(case, f"call {part.name}", edits, knob=f"use of {part.name}")

    EXAMPLES = {
        "one of two branches is joined twice": _connect_example(
            layers="self.a, self.b, self.c = nn.Linear(2, 4), nn.Linear(2, 4), nn.Linear(8, 1)",
            forward="""
                u = self.a(x).relu()
                ⟨v = self.b(x).relu()⟩
                return self.c(torch.cat([u, ⟨u → v⟩], dim=1))""",
        ),
        "the value from before is passed on": _connect_example(
            forward="""
                h = self.a(x).relu()
                ⟨g = self.b(h).relu()⟩
                return self.c(⟨h → g⟩)"""
        ),
        "a result that nobody takes": _connect_example(
            forward="""
                h = self.a(x).relu()
                ⟨ → h = ⟩self.b(h)
                return self.c(h)"""
        ),
        "a layer that is never called": _connect_example(
            forward="h = self.a(x).relu()\nreturn self.c(⟨h → torch.relu(self.b(h))⟩)"
        ),
        "everything is used": _connect_example(forward="⟨return self.c(self.b(self.a(x).relu()).relu())⟩"),
    }
