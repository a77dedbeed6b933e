"""The loop over epochs: where it stands in the user's source, and where the number of its rounds is set."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.diagnose.measures.loop import usual_site
from netmend.localise.lines.follow import given_option, value_origin
from netmend.program.text.queries import last_name, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site, Trace

_MOST_CALLERS = 4  # functions between the epoch loop and the step, at most


@dataclass(frozen=True)
class EpochLoop:
    """`for epoch in range(EPOCHS)`: the line of the loop and the place where the number comes from."""

    loop: Site
    count: Site
    given: str = ""  # the command line's option that set it: `--epochs 2`


def epoch_loop(sources: Sources, trace: Trace) -> EpochLoop | None:
    """The outermost counted loop around the training step, across the functions that lead to it."""
    step = usual_site(trace, "step") or usual_site(trace, "backward")
    found: EpochLoop | None = None
    for _ in range(_MOST_CALLERS):
        if step is None:
            break
        for loop in _counted_loops(sources, step):
            found = _described(sources, step.file, loop)
        step = caller(sources, step)
    return found


def _counted_loops(sources: Sources, site: Site) -> Iterator[ast.For]:
    """Loops over a range around a line within its function, innermost first."""
    function = sources.function_around(site)
    first = function.lineno if function is not None else 0
    around = [
        node
        for node in sources.nodes(site.file, ast.For)
        if first <= node.lineno <= site.line <= (node.end_lineno or node.lineno)
        and _range(node.iter) is not None
    ]
    yield from sorted(around, key=lambda node: -node.lineno)


def _range(node: ast.expr) -> ast.Call | None:
    """The range() call in `range(n)`, `tqdm(range(n))`, `enumerate(range(n))`."""
    if not isinstance(node, ast.Call):
        return None
    if last_name(node.func) in ("range", "trange") and node.args:
        # `range(0, len(x), size)` cuts batches; it does not count epochs.
        return node if len(node.args) < 3 else None
    return next((found for argument in node.args if (found := _range(argument)) is not None), None)


def _described(sources: Sources, file: str, loop: ast.For) -> EpochLoop:
    call = _range(loop.iter)
    assert call is not None
    bound = call.args[min(1, len(call.args) - 1)]
    if isinstance(bound, ast.BinOp):  # range(1, epochs + 1)
        bound = bound.left
    given = given_option(sources, last_name(bound)) if isinstance(bound, ast.Name | ast.Attribute) else ""
    return EpochLoop(site_of(file, loop), value_origin(sources, file, bound), given)


def caller(sources: Sources, site: Site) -> Site | None:
    """A line from which the function around a line is called."""
    function = sources.function_around(site)
    if function is None:
        return None
    for file in sources.files(near=site.file):
        for call in sources.calls_named(file, function.name):
            if not (
                file == site.file
                and function.lineno <= call.lineno <= (function.end_lineno or function.lineno)
            ):
                return site_of(file, call)
    return None
