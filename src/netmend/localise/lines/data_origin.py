"""Where the data comes from: from the call of the model or the loss back to the line that makes the tensor."""

from __future__ import annotations

import ast

from netmend.diagnose.measures.batches import training_loader
from netmend.diagnose.measures.progress import main_progress
from netmend.library.operations import FLOATS, MOVES
from netmend.localise.case import Case
from netmend.localise.lines.epoch_loop import caller
from netmend.program.text.queries import Function, last_name, own_nodes, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import LossFact, Site

_MOST_HOPS = 8
_MOST_CALLERS = 4  # functions between the loop over batches and the call of the model
_MOVES = (*MOVES, *FLOATS, "contiguous")
_DATASETS = (
    "TensorDataset",
    "DataLoader",
    "Subset",
    "random_split",
    "enumerate",
    "iter",
    "tqdm",
    "list",
    "zip",
)


def input_origin(case: Case, inside: bool = True) -> Site | None:
    """The line that makes what the model is fed in training; else the loader, else the call of the model.

    `inside`: where a function of the program makes it, the line inside that function; else the line that calls it.
    """
    model = next(iter(case.trace.models), None)
    called = None if model is None else model.called
    return _origin(case, called, 0, inside) or _loader_site(case) or called


def evaluated_origin(case: Case) -> Site | None:
    """The line that makes what a model is asked about without gradients; None where it cannot be followed."""
    passes = (call for pattern in case.trace.patterns for call in pattern.calls if call.what == "forward")
    sites = dict.fromkeys(call.site for call in passes if call.detail.endswith("no_grad"))
    trained = input_origin(case)  # a share of the training data may be scored too
    found = [origin for site in sites if (origin := _origin(case, site, 0)) is not None]
    return next((origin for origin in found if origin != trained), next(iter(found), None))


def prepared_in_loop(case: Case) -> Site | None:
    """The call of the model, or the line before it, that computes its inputs in one phase but not in the other.

    Where training alone prepares them there, it is the call in evaluation: that is where the same is missing.
    """
    model = next(iter(case.trace.models), None)
    calls = [call for pattern in case.trace.patterns for call in pattern.calls if call.what == "forward"]
    evaluated = next(
        (c.site for c in calls if c.detail.endswith("no_grad") or c.detail.startswith("eval")), None
    )
    if model is None or model.called is None or evaluated is None:
        return None
    computed = [_computed(case.sources, site) for site in (model.called, evaluated)]
    if (computed[0] is None) == (computed[1] is None):
        return None
    return computed[1] or evaluated


def _computed(sources: Sources, called: Site) -> Site | None:
    """Where arithmetic makes the first argument of a call: in the call itself, or in an assignment of the same loop."""
    call = sources.call_at(called)
    if call is None or not call.args:
        return None
    if _arithmetic(call.args[0]):
        return site_of(called.file, call)
    loop = sources.loop_around(called)
    for node in ast.walk(loop) if loop is not None else ():
        if isinstance(node, ast.Assign) and node.lineno <= called.line and _arithmetic(node.value):
            names = {last_name(target) for target in node.targets}
            if isinstance(call.args[0], ast.Name) and call.args[0].id in names:
                return site_of(called.file, node)
    return None


def _arithmetic(value: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) for node in ast.walk(value))


def target_origin(case: Case) -> Site | None:
    """The line that makes the targets; else the loader, else the call of the loss."""
    loss = next((loss for loss in case.trace.losses if loss.backward is not None), None)
    course = main_progress(case.trace)
    if loss is not None and course is not None and course.loss in loss.settings.get("terms", ()):
        loss = case.trace.get(LossFact, course.loss)  # of a sum, the term that weighs most
    called = None if loss is None else loss.called
    return _origin(case, called, 1) or _loader_site(case) or called


def loader_site(case: Case) -> Site | None:
    """Where training batches are made: the loader, else the line that feeds the model."""
    return _loader_site(case) or _batch_line(case)


def _batch_line(case: Case) -> Site | None:
    """The loop that cuts batches by hand, around the call of the model or of the function that calls it."""
    model = next(iter(case.trace.models), None)
    if model is None or model.called is None:
        return None
    at: Site | None = model.called
    for _ in range(_MOST_CALLERS):
        loop = None if at is None else case.sources.loop_around(at)
        if at is None or loop is not None:
            break
        at = caller(case.sources, at)
    else:
        loop = None
    if at is None or loop is None:
        return model.called
    return Site(at.file, loop.lineno, loop.col_offset, loop.lineno, None)


def _loader_site(case: Case) -> Site | None:
    loader = training_loader(case.trace)
    return None if loader is None else loader.created


def _origin(case: Case, called: Site | None, position: int, inside: bool = True) -> Site | None:
    if called is None:
        return None
    call = case.sources.call_at(called)
    if call is None or position >= len(call.args):
        return None
    found = _trace_back(case.sources, called.file, call.args[position], position, 0)
    if found is None:
        return None
    return _made_in(case.sources, found) or found if inside else found


def _trace_back(sources: Sources, file: str, value: ast.expr, position: int, hops: int) -> Site | None:
    if hops > _MOST_HOPS:
        return None
    if isinstance(value, ast.Subscript | ast.Attribute | ast.Starred):
        return _trace_back(sources, file, value.value, position, hops + 1)
    if isinstance(value, ast.Call):
        return _through_call(sources, file, value, position, hops)
    if not isinstance(value, ast.Name):
        return site_of(file, value) if hops else None
    function = sources.function_around(Site(file, value.lineno))
    for scope in sources.scopes_around(Site(file, value.lineno)):
        found = _binding(scope, value.id, value.lineno if scope is function else None)
        if found is not None:
            statement, source, index = found
            if isinstance(statement, ast.For):
                return _trace_back(sources, file, source, index if index is not None else position, hops + 1)
            moved = _moved(source)
            if moved is not None:  # `data = data.to(device)`: what it was before that line
                return _trace_back(sources, file, moved, position, hops + 1)
            deeper = _batch_of(source)
            if deeper is not None:
                return _trace_back(sources, file, deeper, position, hops + 1)
            return site_of(file, statement)
        if isinstance(scope, Function) and any(
            a.arg == value.id for a in (*scope.args.args, *scope.args.kwonlyargs)
        ):
            return _from_caller(sources, file, scope, value.id, position, hops)
    return None


def _through_call(sources: Sources, file: str, call: ast.Call, position: int, hops: int) -> Site | None:
    name = last_name(call.func)
    own = _dataset_class(sources, file, name)
    if own is not None:
        return own
    if name in _DATASETS and call.args:
        wanted = position if name in ("TensorDataset", "zip") and position < len(call.args) else 0
        return _trace_back(sources, file, call.args[wanted], position, hops + 1)
    if isinstance(call.func, ast.Attribute) and not isinstance(call.func.value, ast.Name | ast.Attribute):
        return _trace_back(sources, file, call.func.value, position, hops + 1)
    if isinstance(call.func, ast.Attribute) and name in (
        "to",
        "float",
        "cuda",
        "view",
        "reshape",
        "split",
        "unsqueeze",
    ):
        return _trace_back(sources, file, call.func.value, position, hops + 1)
    return site_of(file, call) if hops else None


def _made_in(sources: Sources, made: Site) -> Site | None:
    """The data is what a function or method of the program returns or yields: the line that does."""
    call = sources.call_at(made)
    if call is None or call.lineno != made.line:
        return None
    own = isinstance(call.func, ast.Attribute) and last_name(call.func.value) == "self"
    if not isinstance(call.func, ast.Name) and not own:
        return None
    for other in sources.files(near=made.file):
        for node in sources.nodes(other):
            if isinstance(node, Function) and node.name == last_name(call.func):
                returns = [
                    inner
                    for inner in ast.walk(node)
                    if isinstance(inner, ast.Return | ast.Yield) and inner.value is not None
                ]
                return site_of(other, returns[-1]) if returns else None
    return None


def _dataset_class(sources: Sources, file: str, name: str) -> Site | None:
    """A data set class of the user's own: the line in its `__getitem__` that makes a sample."""
    for other in sources.files(near=file) if name else ():
        for node in sources.nodes(other):
            if isinstance(node, ast.ClassDef) and node.name == name:
                for method in node.body:
                    if isinstance(method, Function) and method.name == "__getitem__":
                        statements = [s for s in method.body if not isinstance(s, ast.Expr)]
                        return site_of(other, statements[0]) if statements else None
    return None


def _moved(value: ast.expr) -> ast.Name | None:
    """The name in `data.to(device)`, as it stood on the line before."""
    call, name = value, None
    while isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES:
        call = call.func.value
        name = call if isinstance(call, ast.Name) else None
    return None if name is None else ast.Name(name.id, name.ctx, lineno=name.lineno - 1, col_offset=0)


def _batch_of(value: ast.expr) -> ast.expr | None:
    """What a batch is cut from: `X[i:j]`, `X[index].float()`; None when the value is the data itself."""
    if isinstance(value, ast.Subscript):
        return value.value
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and isinstance(value.func.value, ast.Subscript)
    ):
        return value.func.value.value
    if (
        isinstance(value, ast.Call)
        and value.args
        and (last_name(value.func) in _DATASETS or last_name(value.func)[:1].isupper())
    ):
        return value
    return value if isinstance(value, ast.Name) else None


def _binding(
    scope: ast.Module | Function, name: str, before: int | None
) -> tuple[ast.stmt, ast.expr, int | None] | None:
    """The last statement that gives a name its value: an assignment, or the loop whose variable it is."""
    found: tuple[ast.stmt, ast.expr, int | None] | None = None
    for node in own_nodes(scope):
        line = getattr(node, "lineno", 0)
        if before is not None and line > before:
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if _position(target, name) is not False:
                    found = (node, _element(target, node.value, name), None)
        elif isinstance(node, ast.For):
            index = _position(node.target, name)
            if index is not False and (found is None or before is not None):
                found = (node, node.iter, index if isinstance(index, int) and index is not True else None)
    return found


def _position(target: ast.expr, name: str) -> int | bool:
    """Where a name stands in a target: its index in a tuple, True when it is the target, False when it is not there."""
    if isinstance(target, ast.Name):
        return target.id == name
    if isinstance(target, ast.Tuple | ast.List):
        for index, part in enumerate(target.elts):
            inner = _position(part, name)
            if inner is not False:
                return index if inner is True else inner
    return False


def _element(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for part, given in zip(target.elts, value.elts, strict=True):
            if isinstance(part, ast.Name) and part.id == name:
                return given
    return value


def _from_caller(
    sources: Sources, file: str, function: Function, name: str, position: int, hops: int
) -> Site | None:
    names = [argument.arg for argument in function.args.args]
    if names[:1] in (["self"], ["cls"]):  # no call hands it over
        names = names[1:]
    if name in ("self", "cls"):
        return None
    index = names.index(name) if name in names else None
    for other in sources.files(near=file):
        for call in sources.calls_named(other, function.name):
            given = sources.argument(call, name, index)
            if given is not None:
                return _trace_back(sources, other, given, position, hops + 1)
    return None
