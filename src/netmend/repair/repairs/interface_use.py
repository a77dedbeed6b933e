"""R514."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.program.source.naming import spelled
from netmend.program.source.writing import (
    add_argument,
    delete_statement,
    insert_before,
    insert_text,
    rename,
    replace,
    wrap,
)
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name, without_text
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_LEAF = re.compile(r"leaf Variable that requires grad")
_EARLY = re.compile(r"before Module\.__init__\(\) call")
_NUMPY = re.compile(r"Can't call numpy\(\) on Tensor that requires grad")
_FORWARD = re.compile(r"_forward_unimplemented|missing the required \"forward\" function")
_SELF = re.compile(
    r"forward\(\) takes (\d+) positional arguments? but (\d+) were given|forward\(\) got multiple values"
)
_OVERWRITTEN = re.compile(r"modified by an inplace operation")
_TWICE = re.compile(r"backward through the graph a second time")
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


_example = partial(
    example,
    begin="torch.manual_seed(0)\nx, y = torch.randn(8, 3), torch.randn(8, 1)",
    layers="self.fc = nn.Linear(3, 1)",
    forward="""
    h = torch.sigmoid(self.fc(x))
    h = h + 1
    return h""",
    loop="for step in range(2)",
    loss="nn.functional.mse_loss(model(x), y)",
    after_step="print(1)",
    raises=True,
)


class InterfaceUse(Repair, code="R514", cures=("API-USAGE", "API-CALL-MISSING")):
    """Use PyTorch as its error message asks for.

    Detach before `numpy()`, call `super().__init__()` first, update parameters without a graph, name the method `forward`, do not
    overwrite what the backward pass needs, and go backward once per loss.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        text = case.trace.run.exception or ""
        site = case.trace.run.exception_site or (case.site)
        found = case.code.statement_at(site)
        if case.fault is None or found is None:
            return
        file, statement = found
        title = ""
        edits: FileEdits = ()
        if _NUMPY.search(text):
            title, edits = "detach before numpy()", _detached(file, statement)
        elif _LEAF.search(text):
            title, edits = "update without a graph", _without_graph(file, statement)
        elif _EARLY.search(text):
            title, edits = "call super().__init__() first", _super_first(file, statement)
        elif _FORWARD.search(text):
            title, edits = "name the method forward", _named_forward(case)
        elif _SELF.search(text):
            title, edits = "give forward its self", _with_self(case)
        elif _OVERWRITTEN.search(text):
            title, edits = "do not overwrite what is needed", _not_in_place(case)
        elif _TWICE.search(text):
            title, edits = "go backward once", _once(file, statement)
        yield from self.change(case, title, edits, knob=f"line {statement.lineno}")

    EXAMPLES = {
        "numpy of a tracked tensor": _example(after_step="print(model(x).⟨numpy → detach().numpy⟩())"),
        "layers before the base class": _example(
            data="""
                class Net(nn.Module):
                    def __init__(self):
                        + super().__init__()
                        self.size = 3
                        ⟨self.fc = nn.Linear(3, 1)⟩
                    def forward(self, x):
                        h = torch.sigmoid(self.fc(x))
                        h = h + 1
                        return h""",
            layers="",
            forward="",
            model="Net()",
        ),
        "a slip of the pen": _example(
            data="""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.fc = nn.Linear(3, 1)
                    def ⟨foward → forward⟩(self, x):
                        h = torch.sigmoid(self.fc(x))
                        h = h + 1
                        return h""",
            layers="",
            forward="",
            model="Net()",
            mark="loss = nn",
        ),
        "a value that backward needs": _example(
            forward="""
                h = torch.sigmoid(self.fc(x))
                h ⟨+= → = h +⟩ 1
                return h""",
            mark="loss.backward()",
        ),
        "parameters by hand": example(
            """
                torch.manual_seed(0)
                x, y = torch.randn(8, 3), torch.randn(8, 1)
                w = torch.zeros(3, 1, requires_grad=True)
                for step in range(2):
                    loss = ((x @ w - y) ** 2).mean()
                    loss.backward()
                    - w -= 0.1 * w.grad  # a step
                    - w.grad.zero_()
                    + with torch.no_grad():
                    +     w -= 0.1 * w.grad  # a step
                    +     w.grad.zero_()""",
            raises=True,
        ),
        "backward twice": _example(
            loss="",
            after_step="",
            step="""
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                - loss.backward()
                (⟨ → loss + ⟩2 * loss).backward()
                optimizer.step()
                print(1)""",
            mark="(2 * loss)",
        ),
        "nothing is wrong": _example(mark="loss.backward()", raises=False),
    }


def _detached(file: File, statement: ast.stmt) -> FileEdits:
    for call in file.calls("numpy", inside=statement):
        if isinstance(call.func, ast.Attribute):
            return wrap(file, call.func.value, "", ".detach()")
    # `np.array(out)`, `plt.plot(out)`: no call of numpy() in sight.
    return ()


def _without_graph(file: File, statement: ast.stmt) -> FileEdits:
    """`w -= lr * w.grad` → the same in a `with torch.no_grad():`, with the lines of its kind around it."""
    above = file.parent(statement)
    body = next(
        (block for name in ("body", "orelse") if statement in (block := getattr(above, name, None) or [])), []
    )
    name, extra = spelled(file, "torch.no_grad")
    if not body or not isinstance(statement, ast.AugAssign | ast.Expr):
        return ()
    start = end = body.index(statement)
    while start and isinstance(body[start - 1], ast.AugAssign):
        start -= 1
    while end + 1 < len(body) and _updates(body[end + 1]):
        end += 1
    lines = file.lines
    column = file.place(body[start]).column
    first, last = body[start].lineno, body[end].end_lineno or body[end].lineno
    moved = tuple(
        file_edit
        for line in range(first + 1, last + 1)
        if lines.content(line).strip()
        for file_edit in file.edit(lines.start(line), lines.start(line), "    ")
    )
    head = insert_text(file, body[start], f"with {name}():\n{' ' * column}    ")
    return (*head, *moved, *extra)


def _updates(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AugAssign):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_name(call.func) in ("zero_", "sub_", "add_", "copy_")


def _super_first(file: File, statement: ast.stmt) -> FileEdits:
    function = file.function(statement)
    if function is None or function.name != "__init__":
        return ()
    body = without_text(function)
    late = [
        s for s in body
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and last_name(s.value.func) == "__init__"
    ]  # fmt: skip
    text = file.source(late[0]) if late else "super().__init__()"
    removed = delete_statement(file, late[0]) if late else ()
    return (*insert_before(file, body[0], text), *removed) if body else ()


def _model_class(case: Case) -> tuple[File, ast.ClassDef] | None:
    kinds = [model.kind for model in case.trace.models]
    for file in case.code.files():
        for node in inside(file.tree, ast.ClassDef):
            if kinds and node.name not in kinds:
                continue
            if any(last_name(base) == "Module" for base in node.bases):
                return file, node
    return None


def _named_forward(case: Case) -> FileEdits:
    """`def foward(self, x)`, `def call(self, x)`: the only method that can be meant."""
    found = _model_class(case)
    if found is None:
        return ()
    file, owner = found
    methods = [m for m in owner.body if isinstance(m, Function) and not m.name.startswith("__")]
    close = difflib.get_close_matches("forward", [m.name.lower() for m in methods], n=1, cutoff=0.7)
    named = [m for m in methods if close and m.name.lower() == close[0]]
    named = named or [m for m in methods if m.name in ("call", "_forward", "predict")]
    if len(named) != 1:
        return ()
    return rename(file, named[0], "forward")


def _with_self(case: Case) -> FileEdits:
    found = _model_class(case)
    for method in found[1].body if found is not None else ():
        if isinstance(method, Function) and method.name == "forward" and found is not None:
            arguments = method.args.args
            static = any(last_name(d) in ("staticmethod", "classmethod") for d in method.decorator_list)
            if arguments and arguments[0].arg not in ("self", "cls") and not static:
                return insert_text(found[0], arguments[0], "self, ")
    return ()


def _not_in_place(case: Case) -> FileEdits:
    """`x += y` → `x = x + y` in forward; `inplace=True` goes."""
    edits: FileEdits = ()
    for file in case.code.files():
        for node in inside(file.tree, ast.AugAssign, ast.keyword, ast.Call):
            if isinstance(node, ast.AugAssign):
                if not isinstance(node.target, ast.Name) or type(node.op) not in _OPERATORS:
                    continue
                function = file.function(node)
                if function is not None and function.name == "forward":
                    name = node.target.id
                    value = file.source(node.value)
                    if not isinstance(
                        node.value, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Constant
                    ):
                        value = f"({value})"
                    edits = (
                        *edits,
                        *replace(file, node, f"{name} = {name} {_OPERATORS[type(node.op)]} {value}"),
                    )
            elif isinstance(node, ast.keyword) and node.arg == "inplace":
                if isinstance(node.value, ast.Constant) and node.value.value is True:
                    edits = (*edits, *replace(file, node.value, "False"))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                function = file.function(node)
                if node.func.attr in ("relu_", "tanh_", "sigmoid_", "leaky_relu_") and function is not None:
                    plain = f"{file.source(node.func.value)}.{node.func.attr[:-1]}"
                    if not isinstance(file.parent(node), ast.Expr):
                        edits = (*edits, *replace(file, node.func, plain))
    return edits


def _once(file: File, statement: ast.stmt) -> FileEdits:
    """Two calls of backward() in one round: the same loss once, different losses with the graph kept for the second."""
    loop = file.loop(statement)
    calls = (
        [c for c in file.calls("backward", inside=loop) if isinstance(c.func, ast.Attribute)] if loop else []
    )
    calls.sort(key=lambda call: call.lineno)
    if len(calls) != 2 or file.function(calls[0]) is not file.function(calls[1]):
        return ()
    first, second = calls
    assert isinstance(first.func, ast.Attribute) and isinstance(second.func, ast.Attribute)
    if ast.dump(first.func.value) == ast.dump(second.func.value):
        late = file.statement(second)
        return delete_statement(file, late) if isinstance(late, ast.Expr) and late.value is second else ()
    early = file.statement(first)
    between = [c for c in file.calls("step", inside=loop) if first.lineno < c.lineno < second.lineno]
    if not between and isinstance(early, ast.Expr) and early.value is first and not first.args:
        both = f"({file.source(first.func.value)} + {file.source(second.func.value)}).backward()"
        return (*delete_statement(file, early), *replace(file, second, both))
    return add_argument(file, first, "retain_graph=True")
