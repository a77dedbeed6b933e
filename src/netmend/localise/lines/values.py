"""What becomes of a value in the user's source: cut from the graph, kept, never read, reshaped, overwritten."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from netmend.library.operations import LEAVES_GRAPH, WITHOUT_DERIVATIVE
from netmend.localise.lines.blocks import switches_gradients_off
from netmend.program.engine.history import AUGMENT, STORE, Event
from netmend.program.engine.values import Call, Collection, Operation, Value, resolved
from netmend.program.meaning.training import loss_of
from netmend.program.of_run import program_of
from netmend.program.text.queries import (
    assignments,
    inside,
    last_name,
    site_of,
    targets_of,
    variables_in,
)
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

_CUTS = (*LEAVES_GRAPH, *WITHOUT_DERIVATIVE)
_MAKERS = ("tensor", "as_tensor", "from_numpy", "array", "asarray")


def cuts_between(sources: Sources, first: Site | None, last: Site | None) -> Site | None:
    """An operation in the function or file around `last` that takes a value out of the graph, at or after the line of `first`."""
    if first is None or last is None or first.file != last.file:
        return None
    around = sources.function_around(last) or sources.tree(last.file)
    if around is None:
        return None
    low, high = min(first.line, last.line), max(first.line, last.line)
    found = [site_of(first.file, node) for node in inside(around, ast.expr) if is_cut(node)]
    near = [site for site in found if low <= site.line <= high]
    return min(near, key=lambda site: abs(site.line - high), default=None)


def cut_before_step(sources: Sources, stepped: Site | None) -> Site | None:
    """What takes a result out of the graph on the way to an optimiser's step: `fake = generator(noise).detach()`.

    Looked for between the step of another optimiser and this one; before that only where a name is given the cut value, since others
    may be meant to get it without its graph.
    """
    around: ast.AST | None = None
    if stepped is not None:
        around = sources.function_around(stepped) or sources.tree(stepped.file)
    if stepped is None or around is None:
        return None
    nodes = [node for node in ast.walk(around) if getattr(node, "lineno", stepped.line) < stepped.line]
    steps = [node.lineno for node in nodes if isinstance(node, ast.Call) and last_name(node.func) == "step"]
    since = max(steps, default=0)
    cuts = [node for node in nodes if isinstance(node, ast.With | ast.expr) and _leaves_graph(node)]
    assigned = [node.value for node in nodes if isinstance(node, ast.Assign)]
    found = [node for node in cuts if node.lineno > since]
    found = found or [node for node in cuts if isinstance(node, ast.With) or node in assigned]
    last = max(found, key=lambda node: node.lineno, default=None)
    return None if last is None else site_of(stepped.file, last)


def _leaves_graph(node: ast.expr | ast.With) -> bool:
    """`x.detach()`, `x.data` or a block without gradients: the same values, without their graph."""
    if isinstance(node, ast.With):
        return switches_gradients_off(node)
    if isinstance(node, ast.Attribute):
        return node.attr == "data" and isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Call) and last_name(node.func) in ("detach", "detach_")


def is_cut(node: ast.expr) -> bool:
    """`x.detach()`, `x.data`, `torch.tensor(x)`, `x.numpy()` and their like."""
    if isinstance(node, ast.Attribute):
        return node.attr == "data" and isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if isinstance(node.func, ast.Attribute) and name in _CUTS:
        return True
    return (
        name in _MAKERS
        and bool(node.args)
        and not isinstance(node.args[0], ast.Constant | ast.List | ast.Tuple)
    )


def unused_result(sources: Sources, site: Site | None) -> str:
    """The variable that takes the result of the call at a line and is never read; "" if it is."""
    program = program_of(sources)
    file = None if site is None else sources.file(site.file)
    statement = None if site is None or file is None else file.statement_at(site.line)
    if file is None or not isinstance(statement, ast.Assign | ast.Expr) or file.loop(statement) is not None:
        return ""
    made = program.values(file.file, statement.value)
    if not made or file.function(statement) is None or program.reads(file.file, made) - {statement.value}:
        return ""
    if isinstance(statement, ast.Expr):
        return "its result" if isinstance(statement.value, ast.Call) else ""
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def keeping(sources: Sources, backward: Site | None) -> Site | None:
    """The line that adds up or collects a loss as a tensor: `total += loss`, `losses.append(loss)`, `total += train(x, y)`."""
    losses = (loss_of(event) for event in program_of(sources).at(backward))
    return next(filter(None, (_kept(sources, backward, loss) for loss in losses)), None)


def kept_call(sources: Sources, site: Site | None) -> Site | None:
    """`history.append(loss_fn(…))`, `total += loss_fn(…)`: the line keeps what the call at a site returns, with its graph."""
    calls = program_of(sources).calls(site)
    return next(filter(None, (_kept(sources, site, call) for call in calls)), None)


def _kept(sources: Sources, near: Site | None, value: Value | None) -> Site | None:
    program = program_of(sources)
    events = (
        event for part in program.programs(near.file if near is not None else "") for event in part.events
    )
    wanted = resolved(value)
    for event in events if wanted is not None else ():
        if any(part is wanted for given in _gathered(event) for part in _terms(given)):
            return program.site(event.node)
    return None


def collecting(sources: Sources, backward: Site | None) -> Site | None:
    """The line that collects tensors computed in the loop as they are: `outputs.append(out)`."""
    program = program_of(sources)
    for event in program.at(backward)[:1]:
        loop = next(iter(event.loops()), None)
        events = list(loop.events()) if loop is not None else []
        made = {
            id(other.value) for other in events if other.call is not None and not _gives_numbers(other.call)
        }
        for other in events:
            appends = other.call is not None and other.call.method in _COLLECTING
            if appends and any(id(part) in made for given in _gathered(other) for part in _terms(given)):
                return program.site(other.node)
    return None


_COLLECTING = ("append", "appendleft", "extend")


def _gathered(event: Event) -> Sequence[Value]:
    """What is added to something that there was before."""
    if event.call is not None:
        return event.call.args if event.call.method in _COLLECTING else ()
    is_sum = event.kind in (STORE, AUGMENT) and isinstance(event.value, Operation)
    return event.value.operands if is_sum and isinstance(event.value, Operation) else ()


def _terms(value: Value) -> Iterator[Value]:
    """A value, and what it is a sum or a tuple of."""
    value = resolved(value)
    yield value
    parts = (
        value.operands
        if isinstance(value, Operation)
        else value.items
        if isinstance(value, Collection)
        else ()
    )
    for part in parts:
        yield from _terms(part)


def _gives_numbers(call: Call) -> bool:
    return call.method in LEAVES_GRAPH or call.qualified in ("float", "int", "len")


def cut_in_loss(sources: Sources, backward: Site | None) -> Site | None:
    """A value taken out of the graph within the expression of the objective: `loss = a + b.item()`."""
    call = None if backward is None else sources.call_at(backward)
    if backward is None or call is None or not isinstance(call.func, ast.Attribute):
        return None
    names = variables_in(call.func.value)
    around = sources.scope_around(backward)
    for node in inside(around, ast.Assign, ast.AugAssign):
        if any(isinstance(target, ast.Name) and target.id in names for target in targets_of(node)):
            for part in inside(node, ast.expr):
                if is_cut(part):
                    return site_of(backward.file, part)
    return None


def rewritten_argument(sources: Sources, called: Site | None, position: int) -> Site | None:
    """The last assignment before a call that makes its argument anew; None where the call itself holds the expression."""
    call = None if called is None else sources.call_at(called)
    given = call.args[position] if call is not None and position < len(call.args) else None
    if called is None or not isinstance(given, ast.Name):
        return None
    made = assignments(sources.scope_around(called), given.id, before=called.line)
    return site_of(called.file, made[-1]) if made else None


def given_line(sources: Sources, site: Site | None) -> Site | None:
    """The last assignment to the name that a call is given first; the call itself where it is given an expression."""
    return rewritten_argument(sources, site, 0) or site


def reshaping(sources: Sources, near: Site | None) -> Site | None:
    """A `view(-1, …)` or `reshape(-1, …)` in the program: it may move values from one sample to another."""
    for file in sources.files(near.file if near is not None else ""):
        for call in sources.calls_named(file, "view", "reshape"):
            first = call.args[0] if call.args else None
            negative = isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub)
            if negative and len(call.args) > 1:
                return site_of(file, call)
    return None


def changing_in_place(sources: Sources, near: Site | None) -> Site | None:
    """An operation in a `forward` that overwrites a tensor: `x += …`, `x.relu_()`, `x[…] = …`."""
    for file in sources.files(near.file) if near is not None else ():
        for function in sources.nodes(file):
            if not isinstance(function, ast.FunctionDef) or not function.name.endswith("forward"):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name | ast.Subscript):
                    return site_of(file, node)
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                    return site_of(file, node)
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr.endswith("_")
                    and not node.func.attr.startswith("_")
                ):
                    return site_of(file, node)
    return None
