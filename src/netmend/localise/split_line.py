"""The line that cuts data into training and evaluation parts."""

from __future__ import annotations

import ast

from netmend.localise.case import Case
from netmend.localise.source import last_name, site_of
from netmend.vocabulary import Site

_EVALUATION_WORDS = ("val", "test", "eval", "dev", "hold", "held")


def split_line(case: Case) -> Site | None:
    """The assignment that makes the evaluation part out of the same data as the training part; None when none is found."""
    file = _file(case)
    best: Site | None = None
    for node in case.sources.nodes(file) if file else ():
        if not isinstance(node, ast.Assign):
            continue
        names = [last_name(part).lower() for target in node.targets for part in _parts(target)]
        if not any(
            name.startswith(_EVALUATION_WORDS) or name.endswith(_EVALUATION_WORDS) or "_v" in name
            for name in names
        ):
            continue
        if _cuts(node.value):
            best = best or site_of(file, node)
    return best


def _file(case: Case) -> str:
    places = [loader.created for loader in case.trace.loaders] + [model.called for model in case.trace.models]
    return next((place.file for place in places if place is not None), "")


def _parts(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


def _cuts(value: ast.expr) -> bool:
    """Whether an expression takes a part of something, or puts parts together."""
    return any(
        isinstance(node, ast.Subscript)
        or (
            isinstance(node, ast.Call)
            and last_name(node.func)
            in ("cat", "concatenate", "random_split", "Subset", "split", "train_test_split")
        )
        for node in ast.walk(value)
    )
