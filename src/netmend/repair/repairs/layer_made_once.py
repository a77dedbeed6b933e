"""R117."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.source import Function, last_name
from netmend.repair.loop.loop_code import assigned_names, names_in
from netmend.repair.repair import Case, Example, change, register
from netmend.repair.source.code import File
from netmend.repair.source.moving import taken_out
from netmend.repair.source.writing import insert_after, replace
from netmend.syntax.positions import lines_of
from netmend.unit import snake_case
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FREE, Change, FileEdits

_LAYERS = (
    "Linear", "Bilinear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "Embedding", "EmbeddingBag", "LSTM",
    "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "GroupNorm",
    "InstanceNorm1d", "InstanceNorm2d", "MultiheadAttention", "TransformerEncoderLayer", "TransformerEncoder", "PReLU", "Sequential",
    "Parameter",
)  # fmt: skip
_FLATTENING = ("flatten", "view", "reshape")


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
        found = [call for call in file.calls(*_LAYERS) if _is_made_anew(file, call)]
        here = [call for call in found if _spans(file.statement(call), site.line)]
        if not here:  # the line may be the one that calls it
            around = next((c for c in found if _spans(file.function(c), site.line)), None)
            kind = case.fault.component if case.fault is not None else ""
            names = [last_name(c.func) for c in file.calls(inside=around)] if around is not None else []
            here = [around] if around is not None and any(f"{name}@" in kind for name in names) else []
        if not here and case.fault is not None:  # a property of the same class
            made = [c for c in found if _is_property(file.function(c)) and _spans(file.owner(c), site.line)]
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
        if function.name != "forward" and not _is_property(function):
            calls = list(file.calls(function.name, inside=owner))
            if len(calls) > 1 or any(file.loop(each) is not None for each in calls):
                return ()  # one layer for each call
        text = self._text(case, file, function, call, here)
        if not text:
            return ()
        if here != me:
            text = text.replace(f"{here}.", f"{me}.")
        parent = file.parent(call)
        if _is_property(function) and isinstance(parent, ast.Return) and len(function.body) == 1:
            return (
                *_function_gone(file, function),
                *insert_after(file, start.body[-1], f"{me}.{function.name} = {text}"),
            )
        name = _free(file, owner, snake_case(last_name(call.func)))
        edits: FileEdits = ()
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name | ast.Attribute):
            target = parent.targets[0]
            if isinstance(target, ast.Attribute):
                return (
                    *taken_out(file, parent),
                    *insert_after(file, start.body[-1], f"{file.source(target)} = {text}"),
                )
            name = _free(file, owner, target.id)
            uses = [
                node
                for node in ast.walk(function)
                if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load)
            ]
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
            return _with_numbers(case, file, function, call, local)
        for value in sorted((*call.args, *(k.value for k in call.keywords)), key=lambda v: -v.col_offset):
            if names_in(value) & local:
                width = _width(case, file, function, call) if value in call.args[:1] else None
                source = file.source(value)
                if width is None or text.count(source) != 1:
                    return ""
                text = text.replace(source, str(width))
        return text

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "called where it is made",
            before="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        x = torch.relu(nn.Linear(x.size(1), 4)(x))
        return self.head(x)

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
""",
            old="""        self.head = nn.Linear(4, 1)

    def forward(self, x):
        x = torch.relu(nn.Linear(x.size(1), 4)(x))
""",
            new="""        self.head = nn.Linear(4, 1)
        self.linear = nn.Linear(2, 4)

    def forward(self, x):
        x = torch.relu(self.linear(x))
""",
            mark="torch.relu",
        ),
        Example(
            "with a name of its own",
            before="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, hidden=4):
        super().__init__()
        self.hidden = hidden
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        body = nn.Linear(2, self.hidden)
        return self.head(body(x))

model = Net()
for step in range(3):
    model(torch.ones(4, 2)).mean().backward()
""",
            old="""        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        body = nn.Linear(2, self.hidden)
        return self.head(body(x))
""",
            new="""        self.head = nn.Linear(hidden, 1)
        self.body = nn.Linear(2, self.hidden)

    def forward(self, x):
        return self.head(self.body(x))
""",
            mark="body = nn.Linear",
        ),
        Example(
            "made in __init__",
            before="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        return self.head(x)

model = Net()
for step in range(3):
    model(torch.ones(4, 2)).mean().backward()
""",
            mark="self.head = nn.Linear",
        ),
        Example(
            "a property",
            before="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)

    @property
    def last(self):
        return nn.Linear(4, 1)

    def forward(self, x):
        return self.last(self.first(x))

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
""",
            old="""        self.first = nn.Linear(2, 4)

    @property
    def last(self):
        return nn.Linear(4, 1)

""",
            new="""        self.first = nn.Linear(2, 4)
        self.last = nn.Linear(4, 1)

""",
            mark="return self.last",
            component="model.(Linear@train.py:15)",
        ),
        Example(
            "in a method that forward calls",
            before="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)

    def block(self, h, width):
        layer = nn.Sequential(nn.Linear(h.shape[-1], width), nn.ReLU())
        return layer(h)

    def forward(self, x):
        h = self.first(x)
        return self.block(h, 3)

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
""",
            old="""        self.first = nn.Linear(2, 4)

    def block(self, h, width):
        layer = nn.Sequential(nn.Linear(h.shape[-1], width), nn.ReLU())
        return layer(h)
""",
            new="""        self.first = nn.Linear(2, 4)
        self.layer = nn.Sequential(nn.Linear(4, 3), nn.ReLU())

    def block(self, h, width):
        return self.layer(h)
""",
            mark="layer = nn.Sequential",
        ),
    )


def _is_made_anew(file: File, call: ast.Call) -> bool:
    """Whether a layer is created in another method than `__init__`; the layers of a stack go with it."""
    function = file.function(call)
    inner = any(
        isinstance(above, ast.Call) and last_name(above.func) in _LAYERS for above in file.parents(call)
    )
    return function is not None and file.owner(call) is not None and function.name != "__init__" and not inner


def _is_property(function: Function | None) -> bool:
    decorators = () if function is None else function.decorator_list
    return any(last_name(decorator) == "property" for decorator in decorators)


def _function_gone(file: File, function: Function) -> FileEdits:
    """Without a function, its decorators and the empty lines behind it."""
    lines = lines_of(file.text)
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    last, count = function.end_lineno or function.lineno, file.text.count("\n") + 1
    while last < count and not lines.content(last + 1).strip():
        last += 1
    return file.edits(lines.edit(lines.start(first), lines.start(last + 1), ""))


def _with_numbers(case: Case, file: File, function: Function, call: ast.Call, local: set[str]) -> str:
    """The call with what the method around it was given and with the widths that were seen, as `__init__` knows none of its names."""
    text, begin = file.source(call), _offset(file, call)
    given, caller = _given(file, function)
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(call):
        if not isinstance(node, ast.Call):
            continue
        for value in (*node.args, *(k.value for k in node.keywords)):
            names = names_in(value) & local
            if not names or any(isinstance(part, ast.Call) and _is_layer(part) for part in ast.walk(value)):
                continue
            width = None
            if isinstance(value, ast.Name) and value.id in given:
                new = given[value.id]
            elif node.args[:1] == [value]:
                width = (
                    _width(case, file, caller[0], caller[1]) if caller else _width(case, file, function, call)
                )
                new = "" if width is None else str(width)
            else:
                new = ""
            if not new:
                return ""
            start = _offset(file, value) - begin
            found.append((start, start + len(file.source(value)), new))
    for start, end, new in sorted(found, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _is_layer(call: ast.Call) -> bool:
    return last_name(call.func) in _LAYERS


def _given(file: File, function: Function) -> tuple[dict[str, str], tuple[Function, ast.Call] | None]:
    """What the only call of a method gives for its parameters, where that can be said in `__init__` too; and that call."""
    calls = [call for call in file.calls(function.name) if isinstance(call.func, ast.Attribute)]
    around = file.function(calls[0]) if len(calls) == 1 else None
    if around is None:
        return {}, None
    names = [argument.arg for argument in function.args.args[1:]]
    values = dict(zip(names, calls[0].args, strict=False)) | {
        k.arg: k.value for k in calls[0].keywords if k.arg
    }
    plain = {
        name: file.source(value)
        for name, value in values.items()
        if isinstance(value, ast.Constant)
        or (isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name))
    }
    return plain, (around, calls[0])


def _offset(file: File, node: ast.expr) -> int:
    place = file.place(node)
    return lines_of(file.text).offset(place.line, place.column) or 0


def _spans(node: ast.stmt | None, line: int) -> bool:
    return node is not None and node.lineno <= line <= (node.end_lineno or node.lineno)


def _free(file: File, owner: ast.ClassDef, wanted: str) -> str:
    """An attribute name that the class does not use yet."""
    used = {node.attr for node in ast.walk(owner) if isinstance(node, ast.Attribute)}
    names = [wanted, *(f"{wanted}_{number}" for number in range(2, 50))]
    return next(name for name in names if name not in used)


def _width(case: Case, file: File, function: Function, call: ast.Call) -> int | None:
    """The width of what reaches a layer: that of the output of the layer called before it, else of the model's input."""
    before = [
        module
        for module in case.trace.all(ModuleFact)
        if module.called is not None
        and str(case.sources.path(module.called.file)) == file.file
        and function.lineno <= module.called.line < call.lineno
        and module.output_shapes
    ]
    model = case.model
    shape = (
        max(before, key=lambda module: (module.called.line, module.called.column or 0)).output_shapes[0]  # type: ignore[union-attr]
        if before
        else model.input_shapes[0]
        if model is not None and model.input_shapes
        else ()
    )
    if len(shape) < 2:
        return None
    flat = any(
        last_name(each.func) in _FLATTENING
        for each in file.calls(inside=function)
        if each.lineno <= call.lineno
    )
    if flat:
        return math.prod(shape[1:])
    return shape[1] if last_name(call.func).startswith(("Conv", "BatchNorm")) else shape[-1]
