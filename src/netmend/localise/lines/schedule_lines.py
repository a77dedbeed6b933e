"""Lines of schedules: the function that a LambdaLR is given, what it returns, and rates that a program sets itself."""

from __future__ import annotations

import ast

from netmend.program.text.queries import Function, inside, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site


def returned_factor(sources: Sources, made: Site | None) -> Site | None:
    """The last line that returns in the function which the scheduler made here was given; a lambda's own line."""
    call = None if made is None else sources.call_at(made)
    if made is None or call is None:
        return None
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "lr_lambda")]
    for value in given:
        if isinstance(value, ast.Lambda):
            return site_of(made.file, value)
        if isinstance(value, ast.Name):
            for node in sources.nodes(made.file):
                if isinstance(node, Function) and node.name == value.id:
                    returns = list(inside(node, ast.Return))
                    return site_of(made.file, max(returns, key=lambda r: r.lineno)) if returns else None
    return None


def set_by_hand(sources: Sources, stepped: Site | None) -> Site | None:
    """The line that multiplies or sets the rate in the optimiser's groups: `group["lr"] *= 0.9`."""
    if stepped is None:
        return None
    for node in sources.nodes(stepped.file):
        if not isinstance(node, ast.AugAssign | ast.Assign):
            continue
        targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        for target in targets:
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value == "lr"
            ):
                return site_of(stepped.file, node)
    return None
