"""Lines that copy weights from one network to another, and whether the program can come to one of them again and again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.text.queries import last_name, names_in, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

_MOST_CALLERS = 6
_COPYING = {
    "load_state_dict", "copy_", "lerp_", "mul_", "add_", "deepcopy", "vector_to_parameters", "_foreach_lerp_", "_foreach_mul_", "update_parameters",
}  # fmt: skip
_OVER_WEIGHTS = {"parameters", "named_parameters", "state_dict", "buffers", "modules"}
_CALLED_BY_LIBRARIES = ("__", "on_", "training_", "optimizer_")


def copied_again(sources: Sources, near: str) -> bool:
    """Whether a line that may copy weights lies in a loop, or in a function that is called in one or by who knows whom."""
    return any(_again(sources, near, site) for file in sources.files(near) for site in _copies(sources, file))


def _copies(sources: Sources, file: str) -> Iterator[Site]:
    for node in sources.nodes(file):
        is_data = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Attribute) and target.attr == "data" for target in node.targets
        )
        if is_data or (isinstance(node, ast.Call) and last_name(node.func) in _COPYING):
            yield site_of(file, node)  # type: ignore[arg-type]


def _again(sources: Sources, near: str, site: Site, hops: int = _MOST_CALLERS) -> bool:
    function = sources.function_around(site)
    start = 0 if function is None else function.lineno
    if any(_repeats(node) for node in _loops(sources, site, start)):
        return True
    if function is None or function.name == "__init__":
        return False
    if not hops or function.name.startswith(_CALLED_BY_LIBRARIES):
        return True
    return any(
        called is None or _again(sources, near, called, hops - 1)
        for called in _mentions(sources, near, function.name)
    )


def _loops(sources: Sources, site: Site, start: int) -> Iterator[ast.For | ast.While]:
    for node in sources.nodes(site.file):
        if isinstance(node, ast.While | ast.For) and start <= node.lineno <= site.line <= (
            node.end_lineno or 0
        ):
            yield node


def _repeats(loop: ast.For | ast.While) -> bool:
    """Whether a loop is one of training, not over a network's weights."""
    return isinstance(loop, ast.While) or not _OVER_WEIGHTS.intersection(names_in(loop.iter))


def _mentions(sources: Sources, near: str, name: str) -> Iterator[Site | None]:
    """Calls of a function; None for a mention that is no call: it is handed to somebody."""
    for file in sources.files(near):
        calls = list(sources.calls_named(file, name))
        yield from (site_of(file, call) for call in calls)
        called = {id(call.func) for call in calls}
        for node in sources.nodes(file):
            is_mention = isinstance(node, ast.Name | ast.Attribute) and last_name(node) == name
            if is_mention and id(node) not in called:
                yield None
