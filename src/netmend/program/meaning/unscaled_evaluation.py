"""Arrays that are scaled for training and reach the evaluation as they were."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Const, Instance, Item, Operation, Value, resolved
from netmend.program.meaning.arrays import same_numbers, split_part
from netmend.program.meaning.fitting import SCALERS, estimator_kind
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import parts_of, walk
from netmend.program.meaning.roles import bare
from netmend.program.meaning.training import grad_is_off, rounds
from netmend.program.meaning.training_steps import loss_of


def evaluated_raw(program: Program) -> Iterator[tuple[CallEvent, Value]]:
    """Calls of the model without gradients on data whose sister part was standardised for training, and the standardising."""
    scaled: dict[tuple[int, int], Value] = {}
    models: set[int] = set()
    for turn in rounds(program):
        for event in turn.backward:
            for value in walk(loss_of(event)):
                source = _scaled(value)
                if source is not None:
                    scaled.setdefault(_sister(source), value)
                if isinstance(value, Call) and is_module(value.function):
                    models.add(id(bare(value.function)))
    scaled.pop((0, 0), None)
    if not scaled:
        return
    for event in program.calls:
        call = event.call
        if not call.args or id(bare(call.function)) not in models or not grad_is_off(event):
            continue
        found = [key for key in map(_key, _as_it_was(call.args[0])) if key in scaled]
        if found:
            yield event, scaled[found[0]]
            for key in found:
                scaled.pop(key, None)  # layers inside the model get the same data


def _scaled(value: Value) -> Value | None:
    """The data behind `(x - x.mean()) / x.std()` or `scaler.fit_transform(x)`."""
    if isinstance(value, Operation) and value.operator == "/" and len(value.operands) == 2:
        inner = resolved(value.operands[0])
        if isinstance(inner, Operation) and inner.operator == "-" and len(inner.operands) == 2:
            data, centre = resolved(inner.operands[0]), resolved(inner.operands[1])
            if isinstance(centre, Call) and (centre.receiver is not None or centre.args):
                of = centre.receiver if centre.receiver is not None else centre.args[0]
                name = (centre.method or centre.qualified).rpartition(".")[2]
                return data if name == "mean" and same_numbers(of) is same_numbers(data) else None
    if (
        isinstance(value, Call)
        and value.method == "fit_transform"
        and value.receiver is not None
        and value.args
    ):
        made = resolved(value.receiver)
        if isinstance(made, Call) and estimator_kind(made) in SCALERS:
            return value.args[0]
    return None


def _sister(source: Value) -> tuple[int, int]:
    """What the test part of the same data would be known by."""
    part = split_part(source)
    if part is not None:
        return (id(part[0]), part[1] + 1) if part[1] % 2 == 0 else (0, 0)
    source = same_numbers(source)
    if isinstance(source, Item) and isinstance(resolved(source.key), Operation):
        return _made(source.base)
    return _made(source)


def _key(value: Value) -> tuple[int, int]:
    part = split_part(value)
    return (id(part[0]), part[1]) if part is not None else _made(value)


def _made(value: Value) -> tuple[int, int]:
    """Two results of the same expression in the same function stand for two samples of the same data."""
    value = same_numbers(value)
    if value.node is None or not isinstance(value, Call | Operation):
        return (0, 0)
    if isinstance(value, Call) and not value.method and not value.qualified.startswith(("numpy.", "torch.")):
        return (0, 0)
    return (id(value.node), -1)


def _as_it_was(value: Value) -> Iterator[Value]:
    """What a value is taken from through loaders, datasets, indexing and conversions, but no arithmetic."""
    waiting = [value]
    seen: set[int] = set()
    while waiting and len(seen) < 300:
        current = same_numbers(waiting.pop())
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, Operation):
            if current.operator in ("/", "*") and isinstance(resolved(current.operands[-1]), Const):
                waiting.append(current.operands[0])  # another scale than the one of training
            continue
        if isinstance(current, Item) and split_part(current) is not None:
            continue
        if isinstance(current, Call):
            if current.qualified in ("torch.utils.data.DataLoader", "torch.utils.data.TensorDataset"):
                waiting.extend(current.args[:1])
            continue
        if isinstance(current, Attribute | Instance):
            continue
        waiting.extend(parts_of(current))
