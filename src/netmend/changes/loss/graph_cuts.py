"""What takes a value out of the graph, and how the source looks without it; tensors that were made anew of numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.loop.loop_code import assigned_names, names_in
from netmend.localise.lines.values import is_cut
from netmend.program.source.bindings import binding_of
from netmend.program.source.moving import taken_out
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import delete_argument, once, replace, unwrap_call
from netmend.program.text.file import File
from netmend.program.text.queries import Function, holds, inside, last_name, variables_in
from netmend.vocabulary.change import FileEdit, FileEdits

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
    if place.value is not data or not isinstance(place.ctx, ast.Store):
        return None
    if not isinstance(data.value, ast.Name):
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
    lines, first, last = file.lines, block.body[0], block.end_lineno or block.lineno
    if first.lineno == block.lineno:  # with torch.no_grad(): h = f(x)
        return file.edit(file.span(block)[0], file.span(first)[0], "")
    extra = file.place(first).column - file.place(block).column
    header = lines.edit(lines.start(block.lineno), lines.start(_header_end(block) + 1), "")
    edits = [header]
    for number in range(_header_end(block) + 1, last + 1):
        content = lines.content(number)
        if content.strip() and content[:extra].isspace():
            edits.append(lines.edit(lines.start(number), lines.start(number) + extra, ""))
    return file.edits(*edits)


def _header_end(block: ast.With) -> int:
    return max(item.context_expr.end_lineno or block.lineno for item in block.items)


_MOST_CALLS = 3  # a result that is handed on through more functions than this is not followed


def without_leaf_flags(file: File, node: ast.AST) -> FileEdits:
    """Edits that take out the requests for gradients of what a part of the source computes, and of what is computed from it."""
    return tuple(dict.fromkeys(edit for flag in _flags_behind(file, node) for edit in taken_out(file, flag)))


def _flags_behind(file: File, node: ast.AST, most: int = _MOST_CALLS) -> Iterator[ast.stmt]:
    statement = node if isinstance(node, ast.stmt) else file.statement(node)
    if isinstance(statement, Function):  # nothing in it is recorded: a decorator
        yield from _flags_behind_calls(file, statement, most)
        return
    function = None if statement is None else file.function(statement)
    scope = function or file.tree
    statements = list(inside(scope, ast.stmt))
    if statement is None:
        return
    names = assigned_names(statement)
    for each in sorted(statements, key=lambda each: each.lineno):
        if each.lineno < statement.lineno:
            continue
        if isinstance(each, ast.Assign | ast.AugAssign) and names & names_in(each.value):
            names |= set() if any(map(_leaves_again, inside(each.value, ast.expr))) else assigned_names(each)
        if _asks_for_gradients(each) & names:
            yield each
    returned = [each for each in statements if isinstance(each, ast.Return)]
    if function is not None and any(each is statement or names & names_in(each) for each in returned):
        yield from _flags_behind_calls(file, function, most)


def _flags_behind_calls(file: File, function: Function, most: int) -> Iterator[ast.stmt]:
    for call in file.calls(function.name) if most else ():
        if file.function(call) is not function:
            yield from _flags_behind(file, call, most - 1)


def _asks_for_gradients(statement: ast.stmt) -> set[str]:
    """`out` of `out.requires_grad = True`, of `out.requires_grad_()` and of `out = out.requires_grad_()`."""
    held: ast.expr | None = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        is_on = isinstance(statement.value, ast.Constant) and statement.value.value is True
        target = statement.targets[0]
        held = target.value if is_on and target.attr == "requires_grad" else None
    elif isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
        func, off = statement.value.func, statement.value.args
        if isinstance(func, ast.Attribute) and func.attr == "requires_grad_" and not off:
            held = func.value
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) != ast.unparse(held):
                held = None
    return {held.id} if isinstance(held, ast.Name) else set()


def _leaves_again(node: ast.AST) -> bool:
    """`fake.detach()`: a leaf of its own may be meant."""
    return isinstance(node, ast.Attribute) and node.attr in ("detach", "data")


_LISTS = (ast.List, ast.ListComp, ast.GeneratorExp)


def remade_around(file: File, node: ast.expr) -> FileEdits:
    """The tensor that a part of the source makes of numbers, or the numbers that one is made of later, kept as tensors."""
    function = file.function(node)
    loops = [each for each in file.parents(node) if isinstance(each, ast.For | ast.While)]
    for scope in (*loops, *(() if function is None else (function,))):
        edits = kept_as_tensors(file, scope, about=node)
        if edits:
            return edits
    return ()


def is_made_of_numbers(file: File, call: ast.Call, value: ast.expr) -> bool:
    """Whether the name that a tensor is made from stands for plain numbers or a list, which nothing can be differentiated by."""
    value = value_before(value)
    if not isinstance(value, ast.Name):
        return False
    loops = [each for each in file.parents(call) if isinstance(each, ast.For | ast.While)]
    scope = file.function(call) or (loops[-1] if loops else file.tree)
    pieces = [piece for piece in _pieces(scope, value, most=1) if not holds(piece, call)]
    return any(isinstance(piece, _LISTS) or any(True for _ in _numbers(piece)) for piece in pieces)


def kept_as_tensors(file: File, scope: ast.AST, about: ast.expr | None = None) -> FileEdits:
    """A part of the source with the tensors themselves; nothing when none of its tensors is made of numbers that came from others."""
    edits: list[FileEdit] = []
    for call in file.calls(*MAKERS, inside=scope):
        if not call.args or not qualified(file, call.func).startswith("torch"):
            continue
        pieces = list(dict.fromkeys(_pieces(scope, call.args[0])))
        is_meant = about is None or call is about or any(holds(piece, about) for piece in pieces)
        if is_meant and not any(map(_is_of_numpy, pieces)):
            edits += _made_of_tensors(file, call, pieces)
    return once(edits)


def _made_of_tensors(file: File, call: ast.Call, pieces: list[ast.expr]) -> list[FileEdit]:
    first, edits = call.args[0], list[FileEdit]()
    numbers = dict.fromkeys(node for piece in pieces for node in _numbers(piece))
    if not numbers:
        return edits
    is_list = any(isinstance(piece, _LISTS) for piece in pieces)
    for node in numbers:
        value = value_before(node)
        whole = is_list and last_name(getattr(node, "func", node)) in ("item", "float")
        if whole and not _is_scalar(value):  # the number of a tensor with one value, whatever its shape
            edits += replace(file, node, f"{file.source(value)}.squeeze()")
        else:
            edits += replaced(file, node, value)
    inner = any(_inside(file, first, edit) for edit in edits)
    if is_list:
        stack, extra = spelled(file, "torch.stack", like=call.func)
        if inner:  # what changes within the argument stays a change of its own
            edits += (*replace(file, call.func, stack), *extra, *_options_gone(file, call))
        else:
            edits += (*replace(file, call, f"{stack}({file.source(first)})"), *extra)
    elif not inner:
        edits += replaced(file, call, first)
    elif first in numbers:  # torch.tensor(loss.item())
        edits = [edit for edit in edits if not _inside(file, first, edit)]
        edits += replaced(file, call, value_before(first))
    else:
        edits += (*replace(file, call.func, ""), *_options_gone(file, call))
    return edits


def _options_gone(file: File, call: ast.Call) -> FileEdits:
    """Without `dtype=` and `requires_grad=`."""
    return tuple(edit for keyword in call.keywords for edit in delete_argument(file, call, keyword))


def _is_scalar(value: ast.expr) -> bool:
    """Whether a call names a reduction to one number without dimensions."""
    name = last_name(value.func).lower() if isinstance(value, ast.Call) else ""
    is_reduced = name in ("sum", "mean", "norm", "criterion", "cross_entropy") or "loss" in name
    return is_reduced or (isinstance(value, ast.Name) and "loss" in value.id.lower())


def _is_of_numpy(piece: ast.expr) -> bool:
    return any(
        (node.attr == "numpy" or (isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")))
        for node in inside(piece, ast.Attribute)
    )


def _inside(file: File, node: ast.expr, edit: FileEdit) -> bool:
    place = file.place(node)
    start = (edit.edit.line, edit.edit.column)
    return (place.line, place.column) <= start <= (place.end_line, place.end_column)


def _pieces(scope: ast.AST, value: ast.expr, most: int = 3) -> Iterator[ast.expr]:
    """An expression, and those that the names in it were given or filled with."""
    yield value
    names = variables_in(value) if most else set()
    for node in inside(scope, ast.Assign, ast.AugAssign, ast.Call):
        if isinstance(node, ast.Assign) and last_name(node.targets[0]) in names:
            yield from _pieces(scope, node.value, most - 1)
        elif isinstance(node, ast.AugAssign) and last_name(node.target) in names:
            yield node.value
        elif isinstance(node, ast.Call) and last_name(node.func) == "append" and node.args:
            holder = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if last_name(holder) in names:
                yield node.args[0]


def _numbers(piece: ast.expr) -> Iterator[ast.expr]:
    """The outermost expressions in it that make numbers of tensors."""
    if isinstance(piece, ast.Call) and last_name(piece.func) == "float" and len(piece.args) == 1:
        if isinstance(value_before(piece), ast.Call | ast.Name | ast.Subscript):
            yield piece
        return
    if is_cut(piece) and last_name(getattr(piece, "func", piece)) in ("item", "detach", "data", "tolist"):
        yield piece
        return
    for child in ast.iter_child_nodes(piece):
        if isinstance(child, ast.expr):
            yield from _numbers(child)
        elif isinstance(child, ast.keyword):
            yield from _numbers(child.value)
