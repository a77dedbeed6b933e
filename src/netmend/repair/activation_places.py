"""Where an activation function is chosen: a layer's construction, a call, a method, a class or a name that is handed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.diagnose.measures.chain import Link, chain, last_weighted
from netmend.localise.follow import value_origin
from netmend.localise.source import last_name
from netmend.repair.code import Code, File
from netmend.repair.naming import qualified, spelled
from netmend.repair.repair import Case
from netmend.repair.stacks import united
from netmend.repair.writing import replace, wrap
from netmend.syntax.positions import lines_of
from netmend.vocabulary import LossFact, ModuleFact
from netmend.vocabulary.change import FileEdits

# Names under which PyTorch has an activation: (layer, function)
NAMES = {"relu": ("ReLU", "relu"), "gelu": ("GELU", "gelu"), "leaky_relu": ("LeakyReLU", "leaky_relu")}
_MIXING = (
    "matmul",
    "bmm",
    "mm",
    "einsum",
    "mul",
    "multiply",
    "lerp",
    "where",
    "multinomial",
    "lerp_",
    "mul_",
)
_MOST_HOPS = 4


def exchanged(case: Case, link: Link, new: str) -> FileEdits:
    """Another activation in the place of one that ran; empty when its place is not certain or it is a gate."""
    if link.module is not None:
        return _layer(case, link.module, new)
    found = case.code.call_at(link.site)
    if found is None:
        return ()
    file, call = found
    others = [other for other in _same_on_line(file, call) if _is_inside_layer(case, file, other)]
    calls = dict.fromkeys((call, *others))
    if any(is_gate(file, one) for one in calls):
        return ()
    return united(_called(case.code, file, one, link.function, new) for one in calls)


def is_gate(file: File, call: ast.expr) -> bool:
    """Whether a value weighs another one: `torch.sigmoid(g) * x`, `softmax(scores) @ v`."""
    for above in file.parents(call):
        if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult | ast.MatMult):
            other = above.right if _holds(above.left, call) else above.left
            if not isinstance(other, ast.Constant):
                return True
        if isinstance(above, ast.Call) and last_name(above.func) in _MIXING:
            return True
        if isinstance(above, ast.AugAssign):
            return isinstance(above.op, ast.Mult | ast.MatMult)
        if isinstance(above, ast.Assign):
            names = {target.id for target in above.targets if isinstance(target, ast.Name)}
            return any(_weighs(file, name, above) for name in names)
        if isinstance(above, ast.stmt):
            return False
        if isinstance(above, ast.Call) and not _is_plain(above):
            return False  # handed to a layer: what becomes of that is another matter
    return False


def _holds(whole: ast.AST, part: ast.AST) -> bool:
    return any(node is part for node in ast.walk(whole))


def _is_plain(call: ast.Call) -> bool:
    """`x.unsqueeze(1)`, `F.dropout(x)`: the value goes through."""
    return last_name(call.func) in (
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "expand",
        "dropout",
        "transpose",
    )


def _weighs(file: File, name: str, made: ast.stmt) -> bool:
    """Whether a name is a factor in the statements up to where it gets another value."""
    scope: ast.AST = file.function(made) or file.tree
    again = [
        node.lineno
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign)
        and node.lineno > made.lineno
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    last = min(again, default=1 << 30)
    for node in ast.walk(scope):
        if not isinstance(node, ast.expr) or not made.lineno < node.lineno <= last:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.MatMult):
            sides = (node.left, node.right)
            if any(_is_name(side, name) for side in sides) and not any(
                isinstance(side, ast.Constant) for side in sides
            ):
                return True
        if isinstance(node, ast.Call) and last_name(node.func) in _MIXING:
            given = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            if any(_is_name(value, name) for value in given):
                return True
    return False


def _is_name(node: ast.expr, name: str) -> bool:
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
        node = node.value if isinstance(node, ast.Attribute) else node
    return isinstance(node, ast.Name) and node.id == name


def _layer(case: Case, module: ModuleFact, new: str) -> FileEdits:
    if _gates(case, module):
        return ()
    found = case.code.call_at(module.created)
    if found is None:
        return ()
    file, call = found
    if is_output_too(case, module):
        return _all_but_last_call(case, module, new)
    kind = f"torch.nn.{NAMES[new][0]}"
    chosen = _by_text(case.code, file, call, new)
    if chosen:
        return chosen
    if _is_layer(file, call.func, module.kind):
        name, extra = spelled(file, kind, like=call.func)
        return (*replace(file, call, f"{name}()"), *extra)
    classes = list(_classes(case.code, file, call.func, module.kind, 0))
    if not classes:
        return _from_table(case.code, file, call.func, new)
    return united(_named_class(place, node, kind) for place, node in classes)


def _gates(case: Case, module: ModuleFact) -> bool:
    """Whether the module, or the stack that it ends, weighs something."""
    fact: ModuleFact | None = module
    while fact is not None:
        found = case.code.call_at(fact.called)
        if found is not None and is_gate(*found):
            return True
        holder = case.trace.get(ModuleFact, fact.name.rpartition(".")[0])
        if holder is None or holder.kind != "Sequential" or fact.output_shapes != holder.output_shapes:
            return False
        siblings = [m for m in case.trace.layers() if m.name.rpartition(".")[0] == holder.name and m.calls]
        fact = holder if siblings and siblings[-1].name == fact.name else None
    return False


def is_output_too(case: Case, module: ModuleFact) -> bool:
    """One and the same layer serves as hidden and as output activation."""
    if module.calls < 2 or module.activation is None:
        return False
    later = [link for link in chain(case.trace) if link.position > last_weighted(case.trace, link.model)]
    if any(link.function == module.activation for link in later):
        return False
    losses = [loss for loss in case.trace.all(LossFact) if loss.backward is not None] or case.trace.losses
    heads = [o.path[:2] for loss in losses for o in loss.operands if o.role == "prediction"]
    word = module.activation.replace("_", "")
    return any(node.lower().startswith(word) for path in heads for node in path)


def _all_but_last_call(case: Case, module: ModuleFact, new: str) -> FileEdits:
    found = case.code.call_at(module.called)
    if found is None:
        return ()
    file, call = found
    function = file.function(call)
    calls = [
        node
        for node in ast.walk(function or file.tree)
        if isinstance(node, ast.Call) and ast.dump(node.func) == ast.dump(call.func)
    ]
    # Calls end in the order in which they are made: the inner one of two ends first.
    ordered = sorted(calls, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    name, extra = spelled(file, f"torch.nn.functional.{NAMES[new][1]}")
    edits = [replace(file, one.func, name) for one in ordered[:-1]]
    return united([*edits, extra]) if edits else ()


def _same_on_line(file: File, call: ast.Call) -> Iterator[ast.Call]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and node is not call and node.lineno == call.lineno:
            same = last_name(node.func) == last_name(call.func) and last_name(node.func)
            if same and isinstance(node.func, ast.Attribute) == isinstance(call.func, ast.Attribute):
                yield node


def _is_inside_layer(case: Case, file: File, call: ast.Call) -> bool:
    """Whether its result goes into a layer within the same expression."""
    names = {module.name.rpartition(".")[2] for module in case.trace.layers() if not module.activation}
    for above in file.parents(call):
        if isinstance(above, ast.Call) and last_name(above.func) in names:
            return True
        if isinstance(above, ast.stmt):
            return False
    return False


def _called(code: Code, file: File, call: ast.Call, function: str, new: str) -> FileEdits:
    """`torch.sigmoid(x)`, `x.sigmoid()`, `self.act(x)`, `getattr(F, "sigmoid")(x)`."""
    target = NAMES[new][1]
    full = qualified(file, call.func)
    chosen = _by_text(code, file, call, new)
    if chosen:
        return chosen
    if full.startswith("torch.") and last_name(call.func).rstrip("_") == function:
        wanted = (
            "torch.relu" if full.count(".") == 1 and target == "relu" else f"torch.nn.functional.{target}"
        )
        name, extra = spelled(file, wanted, like=call.func)
        rest = _first_only(file, call)
        return () if rest is None else (*replace(file, call.func, name), *rest, *extra)
    if isinstance(call.func, ast.Attribute) and call.func.attr.rstrip("_") == function and not full:
        if target == "relu":
            return _behind(file, call, call.func.value, ".relu()")
        name, extra = spelled(file, f"torch.nn.functional.{target}")
        closing = _behind(file, call, call.func.value, ")")
        return (*wrap(file, call.func.value, f"{name}(", ""), *closing, *extra) if closing else ()
    if isinstance(call.func, ast.Call) and last_name(call.func.func) == "getattr" and len(call.func.args) > 1:
        return _text_at(code, file, call.func.args[1], repr(target))
    places = _classes(code, file, call.func, function, 0)
    return united(_named_class(place, node, f"torch.{target}") for place, node in places)


def _first_only(file: File, call: ast.Call) -> FileEdits | None:
    """Without the arguments behind the first: `softmax(x, dim=1)` → `softmax(x)`; None when the first is given by name."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        return None
    if len(call.args) == 1 and not call.keywords:
        return ()
    place, whole, lines = file.place(call.args[0]), file.place(call), lines_of(file.text)
    start = lines.offset(place.end_line, place.end_column)
    end = lines.offset(whole.end_line, whole.end_column)
    if start is None or end is None:
        return None
    start = file.text.index(",", start)  # brackets of the argument itself may follow it
    return file.edits(lines.edit(start, end - 1, ""))


def _behind(file: File, call: ast.Call, value: ast.expr, text: str) -> FileEdits:
    """Another method in the place of the last one; what it is called on is not touched, as it may change as well."""
    place, whole, lines = file.place(value), file.place(call), lines_of(file.text)
    start, end = (
        lines.offset(place.end_line, place.end_column),
        lines.offset(whole.end_line, whole.end_column),
    )
    if start is None or end is None:
        return ()
    dot = file.text.rindex(".", start, end)  # brackets around the value may come before it
    inside = file.text[dot:end]
    if "\n" in inside or inside.count("(") != 1:
        dot = file.text.index(".", start)
    return file.edits(lines.edit(dot, end, text))


def _named_class(file: File, node: ast.expr, wanted: str) -> FileEdits:
    if wanted == "torch.gelu" or wanted == "torch.leaky_relu":
        wanted = wanted.replace("torch.", "torch.nn.functional.")
    name, extra = spelled(file, wanted, like=node)
    return (*replace(file, node, name), *extra)


def _is_layer(file: File, node: ast.expr, kind: str) -> bool:
    full = qualified(file, node)
    return full.startswith("torch.") and full.rpartition(".")[2] == kind


def _classes(code: Code, file: File, node: ast.expr, kind: str, hops: int) -> Iterator[tuple[File, ast.expr]]:
    """The expressions `nn.Sigmoid` or `torch.sigmoid` that a name stands for, wherever it was handed over."""
    if hops > _MOST_HOPS:
        return
    if _is_layer(file, node, kind):
        yield file, node
    elif isinstance(node, ast.IfExp):
        yield from _classes(code, file, node.body, kind, hops + 1)
        yield from _classes(code, file, node.orelse, kind, hops + 1)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        origin = value_origin(code.sources, file.file, node)
        other = code.file(origin.file)
        found = other.node_at(origin) if other is not None else None
        if other is not None and isinstance(found, ast.expr) and found is not node:
            yield from _classes(code, other, found, kind, hops + 1)


def _from_table(code: Code, file: File, node: ast.expr, new: str) -> FileEdits:
    """`TABLE[name]`, `TABLE.get(name)`, `getattr(nn, name)`: the name is another one where it was set."""
    for _ in range(_MOST_HOPS):
        if not isinstance(node, ast.Name | ast.Attribute):
            break
        origin = value_origin(code.sources, file.file, node)
        other = code.file(origin.file)
        found = other.node_at(origin) if other is not None else None
        if other is None or not isinstance(found, ast.expr) or found is node:
            return ()
        file, node = other, found
    if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
        return _text_at(code, file, node.args[1], NAMES[new][0])
    table: ast.expr | None = None
    selector: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        table, selector = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        table, selector = node.func.value, node.args[0]
    if table is None or selector is None:
        return ()
    whole: ast.AST | None = table
    if not isinstance(table, ast.Dict):
        origin = value_origin(code.sources, file.file, table)
        other = code.file(origin.file)
        whole = other.node_at(origin) if other is not None else None
    keys = zip(whole.keys, whole.values, strict=True) if isinstance(whole, ast.Dict) else ()
    wanted = next((k for k, v in keys if isinstance(k, ast.Constant) and _makes(v, new)), None)
    return _text_at(code, file, selector, str(wanted.value)) if wanted is not None else ()


def _by_text(code: Code, file: File, call: ast.Call, new: str) -> FileEdits:
    """The activation is one of several that are told apart by a text: another text is given where it is set."""
    for selector, text in _choices(file, call, new):
        edits = _text_at(code, file, selector, text)
        if edits:
            return edits
    return ()


def _choices(file: File, call: ast.Call, new: str) -> Iterator[tuple[ast.expr, str]]:
    """What the choice depends on, and the text that chooses the new activation."""
    below: ast.AST = call
    for above in file.parents(call):
        if isinstance(above, ast.Dict) and below in above.values:
            wanted = next(
                (
                    k
                    for k, v in zip(above.keys, above.values, strict=True)
                    if k is not None and _makes(v, new)
                ),
                None,
            )
            for selector in _subscripts(file, above):
                if isinstance(wanted, ast.Constant) and isinstance(wanted.value, str):
                    yield selector, file.source(wanted)
        if isinstance(above, ast.If) and below in above.body:
            function = file.function(call)
            mine = _compared(above.test)
            if mine is not None:
                for other in ast.walk(function or file.tree):
                    theirs = (
                        _compared(other.test) if isinstance(other, ast.If) and other is not above else None
                    )
                    if (
                        theirs is None
                        or not isinstance(other, ast.If)
                        or ast.dump(theirs[0]) != ast.dump(mine[0])
                    ):
                        continue
                    if any(_makes(node, new) for statement in other.body for node in ast.walk(statement)):
                        yield mine[0], file.source(theirs[1])
        if isinstance(above, ast.FunctionDef | ast.ClassDef):
            return
        below = above


def _compared(test: ast.expr) -> tuple[ast.expr, ast.Constant] | None:
    """`name == "sigmoid"`, `name.lower() == "sigmoid"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    left, right = test.left, test.comparators[0]
    if isinstance(left, ast.Call) and isinstance(left.func, ast.Attribute) and not left.args:
        left = left.func.value
    if isinstance(right, ast.Constant) and isinstance(right.value, str):
        return left, right
    return None


def _makes(node: ast.AST, new: str) -> bool:
    name = last_name(node.func) if isinstance(node, ast.Call) else last_name(node)
    return name in NAMES[new]


def _subscripts(file: File, whole: ast.Dict) -> Iterator[ast.expr]:
    """The indices with which a dictionary is read."""
    parent = file.parent(whole)
    while isinstance(parent, ast.Call):  # nn.ModuleDict({…})
        parent = file.parent(parent)
    if isinstance(parent, ast.Subscript):
        yield parent.slice
    names = (
        [ast.dump(t).replace("Store", "Load") for t in parent.targets]
        if isinstance(parent, ast.Assign)
        else []
    )
    for node in ast.walk(file.tree) if names else ():
        if isinstance(node, ast.Subscript) and ast.dump(node.value) in names:
            yield node.slice
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            read = node.func.attr == "get" and ast.dump(node.func.value) in names
            yield from node.args[:1] if read else ()


def _text_at(code: Code, file: File, selector: ast.expr, text: str) -> FileEdits:
    """Change the text that an expression comes from, keeping the quotation marks in use there."""
    node: ast.expr | ast.stmt | None = selector
    place: File | None = file
    if not isinstance(selector, ast.Constant):
        origin = value_origin(code.sources, file.file, selector)
        place = code.file(origin.file)
        node = None if place is None else place.node_at(origin)
    if place is None or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return ()
    mark = place.source(node)[:1]
    word = text.strip("'\"")
    return replace(place, node, f"{mark}{word}{mark}" if mark in ("'", '"') else repr(word))
