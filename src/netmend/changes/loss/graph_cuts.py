"""Expressions that take a value out of the graph: how far they reach, what they were applied to, and the source without them."""

from __future__ import annotations

import ast

from netmend.program.source.bindings import binding_of
from netmend.program.source.moving import taken_out
from netmend.program.source.naming import qualified
from netmend.program.source.writing import delete_argument, replace, unwrap_call
from netmend.program.text.file import File
from netmend.program.text.positions import lines_of
from netmend.program.text.queries import last_name
from netmend.vocabulary.change import FileEdits

STEPS = ("detach", "detach_", "item", "tolist", "round", "floor", "ceil", "cpu", "clone", "requires_grad_")
MAKERS = ("tensor", "as_tensor", "Variable", "from_numpy", "FloatTensor")


def name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else "the comparison"


def chain_of(file: File, node: ast.expr) -> list[ast.expr]:
    """Further cuts on the same value: `h.detach().cpu().numpy()`."""
    found = [node]
    while True:
        holder = file.parent(found[-1])
        call = None if holder is None else file.parent(holder)
        if not isinstance(holder, ast.Attribute) or holder.value is not found[-1]:
            return found
        if holder.attr == "data":
            found.append(holder)
        elif isinstance(call, ast.Call) and call.func is holder and holder.attr in (*STEPS, "numpy"):
            found.append(call)
        else:
            return found


def value_before(node: ast.expr) -> ast.expr:
    """The value before all cuts."""
    while True:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in (*STEPS, "numpy")
        ):
            module = isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "np", "numpy")
            if module and not node.args:
                return node
            node = node.args[0] if module else node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        elif isinstance(node, ast.Call) and last_name(node.func) in (*MAKERS, "float") and node.args:
            node = node.args[0]
        else:
            return node


def is_maker(holder: ast.AST | None, value: ast.expr) -> bool:
    return (
        isinstance(holder, ast.Call)
        and last_name(holder.func) in (*MAKERS, "float")
        and holder.args[:1] == [value]
    )


def is_array_of(file: File, holder: ast.Call, value: ast.expr) -> bool:
    """`np.array(value)`."""
    return qualified(file, holder.func) in ("numpy.array", "numpy.asarray") and holder.args[:1] == [value]


def filled_in_place(file: File, data: ast.Attribute, place: ast.Subscript) -> FileEdits | None:
    """`out.data[i] = …` of a leaf that is filled: without `data`, and the leaf without gradients of its own. None where nothing is filled."""
    if (
        place.value is not data
        or not isinstance(place.ctx, ast.Store)
        or not isinstance(data.value, ast.Name)
    ):
        return None
    binding = binding_of(file, data.value)
    made = None if binding is None or binding.path else binding.value
    if not isinstance(made, ast.Call) or not qualified(file, made.func).startswith("torch."):
        return ()
    wanted = [keyword for keyword in made.keywords if keyword.arg == "requires_grad"]
    gone = [edit for keyword in wanted for edit in delete_argument(file, made, keyword)]
    return (*replace(file, data, data.value.id), *gone)


def replaced(file: File, node: ast.expr, value: ast.expr) -> FileEdits:
    if value is node:
        return ()
    statement = file.statement(node)
    alone = isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1
    target = statement.targets[0] if alone and isinstance(statement, ast.Assign) else None
    is_same = target is not None and isinstance(value, ast.Name | ast.Attribute)
    if statement is not None and target is not None and is_same and file.source(target) == file.source(value):
        return taken_out(file, statement)
    if isinstance(statement, ast.Expr) and statement.value is node:  # h.detach_()
        return taken_out(file, statement)
    if isinstance(node, ast.Call) and value in node.args and len(node.args) == 1 and not node.keywords:
        return unwrap_call(file, node, value)
    return replace(file, node, file.source(value))


def picked_from(file: File, node: ast.expr) -> ast.expr | None:
    """`model(x)` of `torch.argmax(model(x), 1)`, of `model(x).argmax(1)`, of `model(x) > 0.5`."""
    if isinstance(node, ast.Compare):
        return node.left
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and not (
        isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "np", "numpy")
    ):
        return node.func.value
    return node.args[0] if node.args else None


def with_conversions(file: File, node: ast.expr) -> ast.expr:
    """`torch.argmax(out, 1).float()` as a whole, with `[1]` and `.indices` of a maximum."""
    while True:
        holder = file.parent(node)
        call = None if holder is None else file.parent(holder)
        picked = isinstance(holder, ast.Subscript) and holder.value is node
        if isinstance(holder, ast.expr) and (
            picked or (isinstance(holder, ast.Attribute) and holder.attr in ("indices", "data"))
        ):
            node = holder
        elif isinstance(holder, ast.Attribute) and isinstance(call, ast.Call) and call.func is holder:
            node = call
        elif isinstance(holder, ast.Call) and last_name(holder.func) in MAKERS and holder.args[:1] == [node]:
            node = holder
        else:
            return node


def dedented(file: File, block: ast.With) -> FileEdits:
    """The body of a block in its place."""
    lines = lines_of(file.text)
    first, last = block.body[0], block.end_lineno or block.lineno
    start = file.place(block)
    inner = file.place(first)
    if first.lineno == block.lineno:  # with torch.no_grad(): h = f(x)
        begin = lines.offset(start.line, start.column) or 0
        return file.edits(lines.edit(begin, lines.offset(inner.line, inner.column) or begin, ""))
    extra = inner.column - start.column
    header = lines.edit(lines.start(block.lineno), lines.start(_header_end(block) + 1), "")
    edits = [header]
    for number in range(_header_end(block) + 1, last + 1):
        content = lines.content(number)
        if content.strip() and content[:extra].isspace():
            edits.append(lines.edit(lines.start(number), lines.start(number) + extra, ""))
    return file.edits(*edits)


def _header_end(block: ast.With) -> int:
    return max(item.context_expr.end_lineno or block.lineno for item in block.items)
