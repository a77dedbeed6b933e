"""Losses in the source: where a criterion is made and called, another one in its place, and the forms of its two arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from netmend.changes.case import Case
from netmend.library.losses import LIKELIHOODS, LOSS_CLASSES, LOSSES
from netmend.library.operations import INTEGERS, NARROWING, WIDENING
from netmend.program.source.dataflow import bound
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import delete_argument, replace, united
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary import LossFact
from netmend.vocabulary.change import FileEdits

_FUNCTIONS = {name: function for function, name in LOSS_CLASSES.items()}
_TAKES = {loss.name: loss.options for loss in LOSSES if loss.name in LIKELIHOODS}
_CLASS_LOSSES = ("cross_entropy", "nll_loss")
Found = tuple[File, ast.Call]


@dataclass(frozen=True)
class Criterion:
    """A loss as the source has it: `nn.MSELoss()` and its calls, or calls of `F.mse_loss`."""

    kind: str  # "mse_loss"
    created: Found | None
    calls: tuple[Found, ...]  # the one that is trained first
    facts: dict[ast.Call, LossFact] = field(default_factory=dict)
    word: tuple[File, ast.Constant] | None = None  # the name by which it is looked up: getattr(F, "mse_loss")

    @property
    def pairs(self) -> list[Pair]:
        """Its calls that are given both prediction and target."""
        given = ((file, call, arguments(call)) for file, call in self.calls)
        return [
            Pair(file, call, *pair, self.facts.get(call)) for file, call, pair in given if pair is not None
        ]

    def targets(self, *, classes: bool) -> FileEdits:
        """Edits that make the targets of all calls class ids, or real numbers of the prediction's shape."""
        first = next(iter(self.facts.values()), None)
        edits: list[FileEdits] = []
        for pair in self.pairs:
            fact = pair.fact or first
            seen = {} if fact is None else {operand.role: operand for operand in fact.operands}
            if not {"prediction", "target"} <= set(seen):
                continue
            given, target = seen["prediction"], seen["target"]
            if not classes:
                edits.append(as_yes_no(pair.file, pair.target, target.shape, given.shape, target.dtype))
            elif target.dtype != "int64":
                edits.append(as_classes(pair.file, pair.target, target.shape))
        return united(edits)


@dataclass(frozen=True)
class Pair:
    """What a call of a criterion is given, and what was seen of it."""

    file: File
    call: ast.Call
    prediction: ast.expr
    target: ast.expr
    fact: LossFact | None


def criterion_of(case: Case, loss: LossFact | None) -> Criterion | None:
    """A loss of the trace, or the one that stopped the program before it could be seen."""
    if loss is None:
        return _unseen(case)
    if loss.form == "expression" or loss.criterion not in LOSS_CLASSES:
        return None
    same = [loss] + [
        other
        for other in case.trace.losses
        if other.name != loss.name
        and other.criterion == loss.criterion
        and other.form == loss.form
        and (loss.form == "function" or other.created == loss.created)
    ]
    facts: dict[ast.Call, LossFact] = {}
    calls: list[Found] = []
    for fact in same:
        found = case.code.call_at(fact.called)
        if found is not None and found[1] not in facts:
            facts[found[1]] = fact
            calls.append(found)
    created = case.code.call_at(loss.created) if loss.form == "module" else None
    if loss.form == "module":
        if created is None:
            return None
        calls += [call for call in _called(case, created) if call[1] not in facts]
    elif not calls or not any(_is_named(*call, loss.criterion) for call in calls[:1]):
        word = _word(case, loss.criterion)
        return Criterion(loss.criterion, None, tuple(calls), facts, word) if calls and word else None
    return Criterion(loss.criterion, created, tuple(calls), facts) if calls or created else None


def _is_named(file: File, call: ast.Call, criterion: str) -> bool:
    """A call of the function itself, also under another name; what stands around it may be what was seen."""
    return criterion in (last_name(call.func), qualified(file, call.func).rpartition(".")[2])


def _word(case: Case, criterion: str) -> tuple[File, ast.Constant] | None:
    """The only text that is the loss's name."""
    found = [
        (file, node)
        for file in case.code.files()
        for node in inside(file.tree, ast.Constant)
        if node.value == criterion
    ]
    looked_up = any(True for file in case.code.files() for _ in file.calls("getattr"))
    return found[0] if len(found) == 1 and looked_up else None


def _called(case: Case, created: Found) -> Iterator[Found]:
    """Calls of the variable or attribute that holds a criterion, and of a criterion that is called where it is made."""
    file, call = created
    outer = file.parent(call)
    if isinstance(outer, ast.Call) and outer.func is call:
        yield file, outer
    statement = file.statement(call)
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = {last_name(target) for target in targets} - {""}
    for other in case.code.files(file.file):
        for found in other.calls(*names) if names else ():
            yield other, found


def _unseen(case: Case) -> Criterion | None:
    """The only criterion that the program's source makes or calls."""
    found: list[Criterion] = []
    for file in case.code.files():
        for call in file.calls(*_FUNCTIONS, *_TAKES, *LOSS_CLASSES):
            name = last_name(call.func)
            if not qualified(file, call.func).startswith("torch."):
                continue
            if name in _FUNCTIONS:
                found.append(Criterion(_FUNCTIONS[name], (file, call), tuple(_called(case, (file, call)))))
            else:
                same = tuple((file, other) for other in file.calls(name))
                if not any(known.created is None and known.kind == name for known in found):
                    found.append(Criterion(name, None, same))
    return found[0] if len(found) == 1 else None


def exchange(criterion: Criterion, to: str) -> FileEdits:
    """Another loss in the place of this one; arguments that it does not know are left out."""
    edits: list[FileEdits] = []
    if criterion.word is not None:
        return replace(*criterion.word, f'"{to}"')
    if criterion.created is not None:
        file, call = criterion.created
        name, extra = spelled(file, f"torch.nn.{LOSS_CLASSES[to]}", like=call.func)
        if not qualified(file, call.func).startswith("torch."):
            entries = [
                value
                for node in inside(file.tree, ast.Dict)
                for value in node.values
                if last_name(value) == LOSS_CLASSES.get(criterion.kind)
            ]
            if len(entries) == 1:  # looked up in a table
                name, extra = spelled(file, f"torch.nn.{LOSS_CLASSES[to]}", like=entries[0])
                return (*replace(file, entries[0], name), *extra)
            return (*replace(file, call, f"{name}()"), *extra)
        edits += [replace(file, call.func, name), extra, *_dropped(file, call, to, 0)]
    else:
        for file, call in criterion.calls:
            name, extra = spelled(file, f"torch.nn.functional.{to}", like=call.func)
            edits += [replace(file, call.func, name), extra, *_dropped(file, call, to, 2)]
    return united(edits)


def _dropped(file: File, call: ast.Call, to: str, positional: int) -> Iterator[FileEdits]:
    """Settings of the old loss that the new one has not."""
    taken = ("input", "target", *_TAKES.get(to, ("reduction",)))
    unknown = [keyword for keyword in call.keywords if keyword.arg is not None and keyword.arg not in taken]
    if len(unknown) + len(call.args[positional:]) == 1:  # several at once would meet in the text
        yield delete_argument(file, call, (unknown or call.args[positional:])[0])


def arguments(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Prediction and target of a call of a criterion."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given: list[ast.expr | None] = [*call.args, None, None]
    first, second = given[0] or named.get("input"), given[1] or named.get("target")
    if first is None or second is None or isinstance(first, ast.Starred) or isinstance(second, ast.Starred):
        return None
    return first, second


_TYPING = (*INTEGERS, "float", "double", "type", "to", "type_as")


def bare(value: ast.expr, methods: tuple[str, ...], steps: int = 6) -> ast.expr:
    """A value without the conversions at its end: `y.float().unsqueeze(1)` → `y`."""
    for _ in range(steps):
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in methods
        ):
            if value.func.attr == "to" and not _is_type(value):
                return value  # to another device
            value = value.func.value
        elif "unsqueeze" in methods and isinstance(value, ast.Subscript) and _adds_axis(value.slice):
            value = value.value
        else:
            return value
    return value


def _is_type(call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(given) and all(
        "float" in ast.unparse(v) or "long" in ast.unparse(v) or "int" in ast.unparse(v) for v in given
    )


def _adds_axis(index: ast.expr) -> bool:
    return isinstance(index, ast.Tuple) and any(
        isinstance(part, ast.Constant) and part.value is None for part in index.elts
    )


def as_classes(file: File, target: ast.expr, shape: tuple[int, ...]) -> FileEdits:
    """A target as whole class ids of one axis: `ids.float()` → `ids.long()`."""
    inner = bare(target, (*_TYPING, *WIDENING))
    widened = _has(target, inner, WIDENING)
    text = file.source(inner)
    if not isinstance(inner, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        text = f"({text})"
    narrow = ".squeeze(1)" if len(shape) == 2 and shape[1] == 1 and not widened else ""
    return replace(file, target, f"{text}{narrow}.long()")


def as_yes_no(
    file: File, target: ast.expr, shape: tuple[int, ...], given: tuple[int, ...], dtype: str = ""
) -> FileEdits:
    """A target as real numbers in the shape of the prediction: `y` → `y.float().unsqueeze(1)`."""
    inner = bare(target, _TYPING) if not dtype.startswith("float") else target
    text = file.source(inner)
    if not isinstance(inner, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        text = f"({text})"
    if not dtype.startswith("float"):
        text += ".float()"
    if len(given) == len(shape) + 1 and given[-1] == 1:
        text += f".unsqueeze({len(shape)})"
    elif len(shape) == len(given) + 1 and shape[-1] == 1:
        text += f".squeeze({len(given)})"
    return () if text == file.source(target) else replace(file, target, text)


def _has(value: ast.expr, inner: ast.expr, methods: tuple[str, ...]) -> bool:
    while value is not inner:
        if isinstance(value, ast.Subscript):
            return True
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr in methods:
                return True
            value = value.func.value
        else:
            return False
    return False


def narrowed(file: File, value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """A prediction whose last axis is taken away at once: `model(x).squeeze(1)`, and what it is without that."""
    inner = bare(value, NARROWING)
    if isinstance(inner, ast.Subscript) and ast.unparse(inner.slice) in (
        "(slice(None, None, None), 0)",
        ":, 0",
        "..., 0",
        "(..., 0)",
    ):
        inner = inner.value
    return None if inner is value else (value, inner)


def origin(file: File, value: ast.expr) -> ast.expr:
    """The expression that made a prediction, through one variable."""
    if isinstance(value, ast.Name):
        found = bound(file, value)
        if found is not None:
            return found[1]
    return value
