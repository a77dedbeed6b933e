"""The line that cuts data into training and evaluation parts."""

from __future__ import annotations

import ast

from netmend.localise.case import Case
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import Site

_WRAPPERS = ("Subset", "random_split", "ConcatDataset")
_MOST_HOPS = 6
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


def dataset_line(case: Case, loader: Site | None) -> Site | None:
    """The line that makes the data set of a loader; None where it cannot be followed."""
    call = case.sources.call_at(loader) if loader is not None else None
    if loader is None or call is None:
        return None
    given = case.sources.argument(call, "dataset", 0)
    around = case.sources.function_around(loader)
    scope = around if around is not None else case.sources.tree(loader.file)
    for _ in range(_MOST_HOPS):
        if isinstance(given, ast.Call):
            if last_name(given.func) not in _WRAPPERS or not given.args:
                return site_of(loader.file, given)
            given = given.args[0]
            continue
        if not isinstance(given, ast.Name) or scope is None:
            return None
        made = [
            node
            for node in inside(scope, ast.Assign)
            if given.id in map(last_name, node.targets) and node.lineno < loader.line
        ]
        if not made:
            return None
        given = max(made, key=lambda node: node.lineno).value
    return None


def several_loaders(case: Case, loader: Site | None) -> bool:
    """Whether the file that makes a loader makes others too."""
    return loader is not None and len(list(case.sources.calls_named(loader.file, "DataLoader"))) > 1


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
