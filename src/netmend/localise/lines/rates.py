"""Learning rates and schedules: where one is set in the user's source, what it was, and what would be a sensible value."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from netmend.diagnose.measures.loop import usual_site
from netmend.diagnose.measures.rates import highest_rate as highest_rate
from netmend.diagnose.measures.rates import momentum as momentum
from netmend.diagnose.measures.rates import usual_range as usual_range
from netmend.library.optimisers import ADAPTIVE, OPTIMISERS
from netmend.localise.case import Case
from netmend.program.settings import argument_origin, value_origin
from netmend.program.text.queries import Function, inside, last_name, names_in, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Evidence, OptimizerFact, Site

USUAL_RATIO = 0.005  # |update| / |weight| per step in the first steps of healthy programs: 0.001 to 0.05
_WORST_RATIO = (
    2.0  # beyond that a run has blown up, and the ratio says no more how much too high the rate was
)
_GRADIENTS = {"grad", "grads", "gradient"}
_DEFAULTS = {each.name: each.usual for each in OPTIMISERS if each.usual} | {"SGD": 0.1}


@dataclass(frozen=True)
class Setting:
    """One hyperparameter of an optimiser: the line where it is set, its text there, other lines it passes."""

    site: Site | None
    text: str
    related: tuple[Site, ...] = ()


def setting(case: Case, optimizer: OptimizerFact | None, name: str, position: int | None = None) -> Setting:
    """Where an argument of the optimiser's constructor comes from; the constructor itself when it is not given there."""
    if optimizer is None:
        return _by_hand(case)
    origin = argument_origin(case.sources, optimizer.created, name, position)
    if origin is not None:
        others = tuple(place for place in (origin.used, optimizer.created) if place is not None)
        return Setting(origin.site, origin.text, others)
    in_group = _in_groups(case, optimizer.created, name)
    if in_group is not None:
        return Setting(in_group, "", (optimizer.created,) if optimizer.created else ())
    return Setting(optimizer.created or optimizer.stepped, "")


def _by_hand(case: Case) -> Setting:
    """`p -= LR * p.grad`: where the factor of a hand-written update is set; the backward call where none is found."""
    backward = usual_site(case.trace, "step") or usual_site(case.trace, "backward")
    for node in case.sources.nodes(backward.file) if backward is not None else ():
        factor = factor_of_update(node)
        if backward is not None and factor is not None:
            used = site_of(backward.file, factor)
            return Setting(value_origin(case.sources, backward.file, factor), "", (used, backward))
    return Setting(backward, "")


def factor_of_update(node: ast.AST) -> ast.expr | None:
    """`LR` of `LR * p.grad` and of `p.add_(p.grad, alpha=-LR)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        gradient = [side for side in (node.left, node.right) if _has_gradient(side)]
        other = [side for side in (node.left, node.right) if side not in gradient]
        return _unsigned(other[0]) if gradient and other else None
    in_place = isinstance(node, ast.Call) and last_name(node.func) in ("add_", "sub_", "_foreach_add_")
    if isinstance(node, ast.Call) and in_place and any(map(_has_gradient, node.args)):
        alpha = next((keyword.value for keyword in node.keywords if keyword.arg == "alpha"), None)
        return None if alpha is None else _unsigned(alpha)
    return None


def _unsigned(node: ast.expr) -> ast.expr:
    return node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node


def _has_gradient(node: ast.expr) -> bool:
    return not _GRADIENTS.isdisjoint(names_in(node))


def _in_groups(case: Case, created: Site | None, name: str) -> Site | None:
    """`[{"params": …, "lr": 0.1}]`: the first value of that key within the constructor's call."""
    call = None if created is None else case.sources.call_at(created)
    value = next(values_of_key(call, name), None)
    return None if created is None or value is None else value_origin(case.sources, created.file, value)


def values_of_key(node: ast.AST | None, name: str) -> Iterator[ast.expr]:
    """What the dictionaries in a part of a program hold under a key."""
    for table in inside(node, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                yield value


def better_rate(optimizer: OptimizerFact, rate: float, ratio: float | None, lower: bool) -> float:
    """The rate at which weights would move by a usual share per step, in round numbers; never off in the wrong direction."""
    usual = 1e-3 if optimizer.kind in ADAPTIVE else _DEFAULTS.get(optimizer.kind, 0.01)
    if ratio is None or not math.isfinite(ratio) or ratio <= 0:
        wanted = min(usual, rate / 100) if lower else max(usual, rate * 100)
    else:
        wanted = rate * USUAL_RATIO / min(ratio, _WORST_RATIO)
        if (
            optimizer.kind in ADAPTIVE
        ):  # their steps do not depend on the size of gradients: the usual rate is a good anchor
            wanted = math.sqrt(wanted * usual)
    wanted = min(wanted, rate / 5) if lower else max(wanted, rate * 5)
    return rounded(wanted)


def lowest_usual(optimizer: OptimizerFact) -> float:
    """The lowest rate with which networks are commonly trained from scratch."""
    if optimizer.kind == "SGD":
        return 1e-3 if momentum(optimizer) >= 0.8 else 5e-3
    if optimizer.kind in ADAPTIVE:
        return 1e-4
    usual = usual_range(optimizer)
    return 1e-3 if usual is None else usual[0]


def rounded(value: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten."""
    if value <= 0 or not math.isfinite(value):
        return value
    power = 10.0 ** math.floor(math.log10(value))
    best = min((1.0, 2.0, 5.0, 10.0), key=lambda digit: abs(math.log(value / power / digit)))
    return float(f"{best * power:.1g}")


def at_most(evidence: Iterable[Evidence], total: float) -> list[Evidence]:
    """The same reasons, those in favour weakened together so that they do not outweigh a proof."""
    reasons = list(evidence)
    favour = sum(item.weight for item in reasons if item.weight > 0)
    if favour <= total:
        return reasons
    return [
        replace(item, weight=item.weight * total / favour) if item.weight > 0 else item for item in reasons
    ]


def beside_fact(fact: float, evidence: Iterable[Evidence], against: Iterable[Evidence]) -> list[Evidence]:
    """All reasons together, where `fact` of the weight in favour stands by itself.

    A rival explains what was observed, so what it takes away is at most what the observations give; a value far outside of its
    range stays a mistake whatever else is wrong.
    """
    reasons, rivals = list(evidence), list(against)
    observed = sum(item.weight for item in reasons if item.weight > 0) - fact
    taken = -sum(item.weight for item in rivals)
    if fact <= 0 or taken <= observed:
        return reasons + rivals
    share = max(0.0, observed) / taken
    return reasons + [replace(item, weight=item.weight * share) for item in rivals]


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
