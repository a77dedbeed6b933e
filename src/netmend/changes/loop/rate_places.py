"""Where the learning rate of an optimiser is set, and the edits that set another one.

It may be an argument of the constructor, of several parameter groups, of a schedule that sets the rate itself, or the factor of a
hand-written update.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from netmend.changes.case import Case
from netmend.changes.loop.good_rates import rate_text, rounded
from netmend.changes.named_settings import named_like
from netmend.diagnose.measures.loop import usual_site
from netmend.localise.lines.rates import factor_of_update, values_of_key
from netmend.program.source.bindings import binding_of
from netmend.program.source.numbers import literal, number, set_numbers
from netmend.program.source.values import Faces, set_argument, set_value
from netmend.program.text.file import File
from netmend.program.text.queries import inside
from netmend.vocabulary import OptimizerFact, SchedulerFact, Site

# Schedules that set the rate themselves, whatever the optimiser was given, and the arguments that say which.
_SETTING = {"OneCycleLR": (("max_lr", 1),), "CyclicLR": (("base_lr", 1), ("max_lr", 2))}
_NAMES = ("lr", "learning_rate", "learning-rate", "base_lr", "init_lr")


def present_rate(case: Case, optimizer: OptimizerFact | None) -> float | None:
    """The rate as it was set; where a schedule changes it, the one it starts from; the highest of several groups."""
    if optimizer is None:
        found = by_hand(case)
        return None if found is None else number(case.code, *found, case.arguments)
    rates = [_base(group.settings) for group in optimizer.groups]
    known = [rate for rate in rates if rate is not None]
    return max(known, default=None)


def peak_rate(case: Case, optimizer: OptimizerFact) -> float | None:
    """The highest rate that was really used."""
    seen = [
        float(rate)
        for index in range(len(optimizer.groups))
        for rate in case.trace.series("rate", f"{optimizer.name}[{index}]", "rate")[1]
    ]
    return max(seen, default=present_rate(case, optimizer))


def _base(settings: object) -> float | None:
    get = getattr(settings, "get", lambda name: None)
    value = get("initial_lr") if get("initial_lr") is not None else get("lr")
    return float(value) if isinstance(value, int | float) else None


def set_rate(case: Case, optimizer: OptimizerFact | None, rate: float, present: float) -> Faces:
    """Edits that give an optimiser another rate; several groups keep their ratio."""
    if optimizer is None:
        found = by_hand(case)
        return Faces() if found is None else set_value(case.code, *found, rate_text(rate), case.arguments)
    scheduled = _scheduled(case, optimizer, rate, present)
    if scheduled:
        return scheduled
    values = list(_in_groups(case, optimizer))
    if values:
        found_call = case.code.call_at(optimizer.created)
        if found_call is not None:
            own = case.code.sources.argument(found_call[1], "lr", 1)
            values += [] if own is None else [(found_call[0], own)]
        return scaled(case, values, rate / present) if present > 0 else Faces()
    product = _product(case, optimizer)
    if product is not None and present > 0:
        return scaled(case, [product], rate / present)
    return set_setting(case, optimizer.created, "lr", rate_text(rate), 1) or named_like(
        case, _NAMES, rate_text(rate), present
    )


def set_setting(case: Case, site: Site | None, name: str, text: str, position: int | None) -> Faces:
    """Give an argument of a constructor another value, wherever it comes from."""
    faces = set_argument(case.code, site, name, text, position=position, arguments=case.arguments)
    return faces or _unpacked(case, site, name, text)


def _product(case: Case, optimizer: OptimizerFact) -> tuple[File, ast.expr] | None:
    """`lr=base_lr * 0.1`, when it is known where `base_lr` was set."""
    found = case.code.call_at(optimizer.created)
    value = None if found is None else case.code.sources.argument(found[1], "lr", 1)
    if found is None or value is None or _root(value) is value:
        return None
    known = number(case.code, found[0], _root(value), case.arguments)
    return None if known is None else (found[0], value)


def _scheduled(case: Case, optimizer: OptimizerFact, rate: float, present: float) -> Faces:
    values = [(file, value) for _, file, value in _settings(case, optimizer)]
    return scaled(case, values, rate / present) if values else Faces()


def _settings(case: Case, optimizer: OptimizerFact) -> list[tuple[str, File, ast.expr]]:
    """What a schedule that sets the rate itself was given for it: names and values."""
    for scheduler in case.trace.all(SchedulerFact):
        places = _SETTING.get(scheduler.kind, ())
        found = case.code.call_at(scheduler.created)
        if not places or found is None or scheduler.optimizer not in ("", optimizer.name):
            continue
        return [
            (name, found[0], value)
            for name, position in places
            if (value := case.code.sources.argument(found[1], name, position)) is not None
        ]
    return []


def rate_title(case: Case, optimizer: OptimizerFact | None, rate: float, present: float) -> str:
    """`learning rate 5 → 0.5`; by the name of the setting where a schedule sets the rate itself."""
    for name, file, value in [] if optimizer is None or present <= 0 else _settings(case, optimizer)[-1:]:
        known = number(case.code, file, _root(value), case.arguments)
        if known is not None:
            return f"learning rate, {name} {known:g} → {rate_text(rounded(known * rate / present))}"
    return f"learning rate {present:g} → {rate_text(rate)}"


def scaled(case: Case, values: Iterable[tuple[File, ast.expr]], factor: float) -> Faces:
    """Multiply numbers where they were set; one that several of them come from is multiplied once."""
    roots = [(file, _root(value)) for file, value in values]
    known = [(*place, number(case.code, *place, case.arguments)) for place in roots]
    texts = (
        (file, root, rate_text(rounded(present * factor)))
        for file, root, present in known
        if present is not None
    )
    return set_numbers(case.code, texts, case.arguments)


def _root(value: ast.expr) -> ast.expr:
    """`base_lr * 0.1` → `base_lr`: the part that is not a plain number."""
    while (
        isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div) and literal(value) is None
    ):
        if literal(value.right) is not None:
            value = value.left
        elif literal(value.left) is not None and isinstance(value.op, ast.Mult):
            value = value.right
        else:
            break
    return value


def _in_groups(case: Case, optimizer: OptimizerFact) -> Iterator[tuple[File, ast.expr]]:
    """`[{"params": …, "lr": 0.1}]`: the rates of parameter groups, in the call or in the list that it is given."""
    found = case.code.call_at(optimizer.created)
    if found is None or len(optimizer.groups) < 2:
        return
    file, call = found
    near: list[ast.AST] = [call]
    given = case.code.sources.argument(call, "params", 0)
    if isinstance(given, ast.Name):
        scope = file.function(call) or file.tree
        near += [
            node.value
            for node in inside(scope, ast.Assign)
            if any(isinstance(target, ast.Name) and target.id == given.id for target in node.targets)
        ]
    near += list(file.calls("add_param_group"))
    for table in (table for part in near for table in inside(part, ast.Dict)):
        keys = [key.value for key in table.keys if isinstance(key, ast.Constant)]
        for rate in values_of_key(table, "lr") if "params" in keys else ():
            for value in _values_of(file, rate):
                yield file, value


def _values_of(file: File, value: ast.expr) -> list[ast.expr]:
    """`[{…, "lr": rate} for name, rate in rates.items()]`: the rates in the dictionary; else the value itself."""
    if not isinstance(value, ast.Name):
        return [value]
    loops = [loop for above in file.parents(value) for loop in getattr(above, "generators", ())]
    for loop in loops:
        named = [node.id for node in inside(loop.target, ast.Name)]
        call = loop.iter
        if value.id not in named[-1:] or not isinstance(call, ast.Call):
            continue
        if not isinstance(call.func, ast.Attribute):
            continue
        held = call.func.value
        bound = binding_of(file, held) if isinstance(held, ast.Name) else None
        known = held if bound is None else bound.value
        if call.func.attr in ("items", "values") and isinstance(known, ast.Dict):
            return known.values
    return [value]


def _unpacked(case: Case, site: Site | None, name: str, text: str) -> Faces:
    """`SGD(parameters, **settings)`: the key of the dictionary that is unpacked."""
    found = case.code.call_at(site)
    if found is None:
        return Faces()
    file, call = found
    for keyword in call.keywords:
        if keyword.arg is None:
            wanted = ast.Subscript(keyword.value, ast.Constant(name), ast.Load())
            ast.copy_location(wanted, keyword.value)
            if number(case.code, file, wanted, case.arguments) is not None:
                faces = set_value(case.code, file, wanted, text, case.arguments)
                # At the call itself the dictionary cannot be replaced by a number.
                return Faces(faces.edits, arguments=faces.arguments) if faces.forced else Faces()
    return Faces()


def by_hand(case: Case) -> tuple[File, ast.expr] | None:
    """The factor of a hand-written update: `p -= LR * p.grad`, `p.add_(p.grad, alpha=-LR)`."""
    site = usual_site(case.trace, "step") or usual_site(case.trace, "backward")
    file = None if site is None else case.code.file(site.file)
    if site is None or file is None or case.trace.optimizers:
        return None
    nodes = inside(file.tree, ast.BinOp, ast.Call)
    for node in sorted(nodes, key=lambda node: abs(node.lineno - site.line)):
        factor = factor_of_update(node)
        if factor is not None and number(case.code, file, factor, case.arguments) is not None:
            return file, factor
    return _of_velocity(case, file, site)


def _of_velocity(case: Case, file: File, site: Site) -> tuple[File, ast.expr] | None:
    """`p -= LR * v` soon after backward(): the side that is a number."""
    for node in inside(file.tree, ast.AugAssign):
        near = -3 <= node.lineno - site.line <= 12
        if not near or not isinstance(node.op, ast.Sub):
            continue
        product = node.value
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
            sides = [
                side
                for side in (product.left, product.right)
                if number(case.code, file, side, case.arguments) is not None
            ]
            if len(sides) == 1:
                return file, sides[0]
    return None
