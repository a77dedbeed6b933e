"""Lines of the user's program that matter to a fault, found in its source: loops, no_grad blocks, frozen parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from netmend.program.engine.history import Body, Loop
from netmend.program.meaning.kept_graphs import carried
from netmend.program.meaning.operations import depends_on
from netmend.program.of_run import program_of
from netmend.program.text.queries import attributes_in, inside, last_name, site_of, targets_of, variables_in
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

_NO_GRAD = ("no_grad", "inference_mode")


def loop_around(sources: Sources, site: Site | None) -> Site | None:
    """The line of the innermost loop that a line stands in."""
    loop = None if site is None else sources.loop_around(site)
    return None if site is None or loop is None else Site(site.file, loop.lineno, function=site.function)


def called_in_loop(sources: Sources, site: Site | None) -> Site | None:
    """For a line in a function that makes something: the call of that function inside a loop, if there is one.

    Of a factory it is what its product is made again by, one function further out.
    """
    program = program_of(sources)
    for event in program.at(site)[:1]:
        around = list(event.around())
        inner = list(takewhile(lambda part: not isinstance(part, Loop), around))
        calls = [part.call for part in inner if isinstance(part, Body) and part.call is not None]
        file = program.file_of(event.node)
        is_factory = file is not None and isinstance(file.statement(event.node), ast.Return)
        if len(inner) < len(around) and 0 < len(calls) <= 1 + is_factory:
            return program.site(calls[-1].node)
    return None


def experiment_loop(loop: ast.For) -> bool:
    """Whether a loop seeds the random numbers anew, or uses its variable to choose data or settings."""
    names = variables_in(loop.target)
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and last_name(node.func) in (
            "manual_seed",
            "seed",
            "seed_everything",
            "set_seed",
        ):
            return True
        chosen = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        if chosen and isinstance(node, ast.Subscript):
            indices = [part.id for part in inside(node.slice, ast.Name)]
            if names.intersection(indices):
                return True
    return False


def no_grad_around(sources: Sources, site: Site | None) -> Site | None:
    """The `with torch.no_grad():` or the decorator that switches gradients off for a line."""
    if site is None:
        return None
    found: Site | None = None
    for node in sources.nodes(site.file):
        if isinstance(node, ast.With | ast.AsyncWith) and spans(node, site):
            if switches_gradients_off(node):
                found = Site(site.file, node.lineno)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and spans(node, site):
            for decorator in node.decorator_list:
                if _switches_off(decorator):
                    found = found or Site(site.file, decorator.lineno)
    return found


def switches_gradients_off(block: ast.With | ast.AsyncWith) -> bool:
    return any(_switches_off(item.context_expr) for item in block.items)


def grad_switched_off(sources: Sources, near: str = "") -> Site | None:
    """A `torch.set_grad_enabled(False)` that is no context manager: it stays."""
    for file in sources.files(near):
        for node in sources.nodes(file, ast.Expr):
            if isinstance(node.value, ast.Call):
                call = node.value
                if last_name(call.func) == "set_grad_enabled" and _is(call.args[:1], False):
                    return site_of(file, call)
    return None


def freezing(sources: Sources, near: str = "", about: tuple[str, ...] = ()) -> Site | None:
    """The line that sets requires_grad to False; where several do, one whose surroundings name the layer."""
    found: list[tuple[bool, Site]] = []
    for file in sources.files(near):
        for node in sources.nodes(file):
            place: ast.stmt | ast.expr | None = None
            if isinstance(node, ast.Assign) and _is([node.value], False):
                if any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets):
                    place = node
            elif (
                isinstance(node, ast.Call)
                and last_name(node.func) == "requires_grad_"
                and (_is(node.args[:1], False) or any(_is([k.value], False) for k in node.keywords))
            ):
                place = node
            if place is not None:
                site = site_of(file, place)
                loop = sources.loop_around(site)
                first = min(loop.lineno if loop is not None else site.line, site.line)
                text = " ".join(sources.lines(file)[first - 1 : site.line])
                found.append((any(word in text for word in about), site))
    return max(found, key=lambda item: item[0], default=(False, None))[1]


def writes_gradients(sources: Sources, site: Site | None) -> bool:
    """Whether the program around a line puts gradients together by itself: `p.grad = …`, `p.grad.copy_(…)`."""
    if site is None:
        return False
    around = sources.scope_around(site)
    written = [target for node in inside(around, ast.Assign, ast.AugAssign) for target in targets_of(node)]
    in_place = (call.func for call in inside(around, ast.Call) if last_name(call.func)[-1:] == "_")
    written += [func.value for func in in_place if isinstance(func, ast.Attribute)]
    return any("grad" in attributes_in(target) for target in written)


def retains_graph(sources: Sources, site: Site | None) -> bool:
    call = None if site is None else sources.call_at(site)
    given = (node.value for node in inside(call, ast.keyword) if node.arg == "retain_graph")
    return _is(list(given), True)


def attribute_line(sources: Sources, near: str, detail: Mapping[str, Any]) -> Site | None:
    """The line `self.name = …` in the class that a symptom names."""
    for file in sources.files(near):
        for owner in sources.nodes(file):
            if not isinstance(owner, ast.ClassDef) or owner.name != detail.get("class"):
                continue
            for node in inside(owner, ast.Assign):
                if any(
                    isinstance(t, ast.Attribute) and t.attr == detail.get("attribute") for t in node.targets
                ):
                    return site_of(file, node)
    return None


def plain_containers(sources: Sources, near: str = "") -> Iterator[Site]:
    """`self.layers = [nn.Linear(…), …]` in a class: layers that no module registers."""
    for file in sources.files(near):
        for node in sources.nodes(file):
            if not isinstance(node, ast.Assign) or not isinstance(
                node.value, ast.List | ast.ListComp | ast.Dict | ast.DictComp
            ):
                continue
            on_self = any(
                isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == "self"
                for t in node.targets
            )
            makes = any(
                last_name(n.func)[:1].isupper() and last_name(n.func) != "Parameter"
                for n in inside(node.value, ast.Call)
            )
            if on_self and makes:
                yield site_of(file, node)


def _is(values: list[ast.expr], wanted: bool) -> bool:
    return bool(values) and isinstance(values[0], ast.Constant) and values[0].value is wanted


def spans(node: ast.stmt, site: Site) -> bool:
    return node.lineno <= site.line <= (node.end_lineno or node.lineno)


def _switches_off(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    if last_name(called) in _NO_GRAD:
        return not (isinstance(node, ast.Call) and _is(node.args[:1], False))
    return (
        isinstance(node, ast.Call) and last_name(called) == "set_grad_enabled" and _is(node.args[:1], False)
    )


def handed_on_state(sources: Sources, site: Site | None) -> str | None:
    """`out, h = model(x, h)`: the name that a call both takes and gives back with its graph, round after round."""
    for event in program_of(sources).at(site)[:1]:
        for loop in event.loops():
            for state in carried(loop):
                if depends_on(event.value, state.before) and depends_on(state.stored.value, event.value):
                    return state.name
    return None
