"""Linear layers in a row: which of them hand their output to another one with no non-linearity between."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator

from netmend.changes.network.model_layers import links_of
from netmend.diagnose.detectors.hidden_activations import on_purpose
from netmend.diagnose.measures.chain import Link, in_sequence, linear_pairs
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case
from netmend.vocabulary import FunctionFact, ModuleFact

_PASSING = (
    "view", "reshape", "flatten", "squeeze", "unsqueeze", "contiguous", "dropout", "dropout2d", "to", "float", "permute",
    "transpose", "mean", "avg_pool1d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "interpolate", "pad",
    "max_pool1d", "max_pool2d",
)  # fmt: skip
_THROUGH = ("Dropout", "Flatten", "Unflatten", "Identity", "BatchNorm", "AvgPool", "AdaptiveAvgPool", "MaxPool", "Upsample", "ZeroPad")  # fmt: skip
_MOST_STEPS = 12


def rows(case: Case, model: str) -> Iterator[tuple[ModuleFact, ModuleFact]]:
    """Layers and the place behind which an activation belongs: the layer itself, or the normalisation behind it.

    Each comes with the layer that follows.
    """
    links = links_of(case, model)
    certain = {(one.name, two.name) for one, two, _ in linear_pairs(case.trace)}
    for index, first in enumerate(links):
        if first.kind != "linear" or first.module is None:
            continue
        between, second = _following(links[index + 1 :])
        if second is None or second.module is None or on_purpose(first, second):
            continue
        joined = (first.name, second.name) in certain or _chained(case, first, between, second)
        if joined or _handed_on(case, first.module, second.module):
            norms = [link.module for link in between if link.module and "Norm" in link.module.kind]
            yield (norms[-1] if norms else first.module), second.module


def _following(links: list[Link]) -> tuple[list[Link], Link | None]:
    """What lies before the next linear layer, and that one; None when something other than a passage comes first."""
    between: list[Link] = []
    for link in links:
        if link.kind == "linear":
            return between, link
        passes = link.kind in ("transparent", "norm") or (
            link.module is not None and link.module.kind.startswith(_THROUGH)
        )
        if not passes:
            return between, None
        between.append(link)
    return between, None


def _chained(case: Case, first: Link, between: list[Link], second: Link) -> bool:
    """In one stack, or each given exactly what the one before made."""
    one, two = first.module, second.module
    if one is None or two is None or one.calls != 1 or two.calls != 1:
        return False
    if in_sequence(case.trace, one, two):
        return True
    if any(link.module is None for link in between) or _written_between(case, one, two):
        return False
    modules = [one, *(link.module for link in between if link.module is not None), two]
    shapes = [(a.output_shapes[:1], b.input_shapes[:1]) for a, b in itertools.pairwise(modules)]
    return bool(between) and all(
        made and taken and made[0][:1] == taken[0][:1] and math.prod(made[0]) == math.prod(taken[0])
        for made, taken in shapes
    )


def _written_between(case: Case, first: ModuleFact, second: ModuleFact) -> bool:
    """An activation is called as a function on the lines between; the same line may stand for several layers."""
    if first.called is None or second.called is None or first.called.file != second.called.file:
        return True
    low, high = sorted((first.called.line, second.called.line))
    return any(
        fact.kind == "activation" and fact.site is not None and low <= fact.site.line <= high
        for fact in case.trace.all(FunctionFact)
        if fact.site is not None and first.called is not None and fact.site.file == first.called.file
    )


def _handed_on(case: Case, first: ModuleFact, second: ModuleFact) -> bool:
    """Whether the source of forward() shows that only reshaping and pooling lie between."""
    found = case.code.call_at(second.called)
    if first.called is None or found is None or first.called.file != found[0].file:
        return False
    file, call = found
    function = file.function(call)
    kinds = {m.name.rpartition(".")[2]: m.kind for m in case.trace.layers() if m.model == first.model}
    wanted = first.name.rpartition(".")[2]
    if function is None or last_name(call.func) != second.name.rpartition(".")[2] or not call.args:
        return False
    return _leads(call.args[0], function, wanted, kinds, call.lineno, 0)


def _leads(
    value: ast.expr, function: ast.AST, wanted: str, kinds: dict[str, str], line: int, depth: int
) -> bool:
    if depth > _MOST_STEPS:
        return False
    if isinstance(value, ast.Name):
        made = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and node.lineno < line
            and any(isinstance(target, ast.Name) and target.id == value.id for target in node.targets)
        ]
        last = max(made, key=lambda node: node.lineno, default=None)
        return last is not None and _leads(last.value, function, wanted, kinds, last.lineno, depth + 1)
    if not isinstance(value, ast.Call):
        return False
    name = last_name(value.func)
    if name == wanted:
        return True
    if kinds.get(name, "").startswith(_THROUGH) and value.args:
        return _leads(value.args[0], function, wanted, kinds, line, depth + 1)
    if name not in _PASSING:
        return False
    holder = value.func.value if isinstance(value.func, ast.Attribute) else None
    is_library = holder is None or last_name(holder) in ("torch", "F", "functional")
    inner = value.args[0] if is_library and value.args else holder
    return inner is not None and _leads(inner, function, wanted, kinds, line, depth + 1)
