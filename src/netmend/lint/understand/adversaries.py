"""Two networks against each other: losses of one network's judgement on real samples and on what the other one makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.lint.engine.history import Event
from netmend.lint.engine.program import Program
from netmend.lint.engine.values import Attribute, Call, Collection, Item, Operation, Value, constant, resolved
from netmend.lint.understand.heads import loss_uses
from netmend.lint.understand.losses import LossUse
from netmend.lint.understand.models import bare, is_module
from netmend.lint.understand.operations import LAYOUT, operation
from netmend.lint.understand.optimisers import made_optimisers
from netmend.lint.understand.signed_terms import signed_terms
from netmend.lint.understand.training import Round
from netmend.lint.understand.training_steps import loss_of

REAL, CUT, MADE = (
    "real",
    "cut",
    "made",
)  # what is judged: a sample, one that was made without and with a way back
_KINDS = ("bce", "bce_logits", "mse")
_WRAPPERS = ("torch.autograd.Variable",)
_ONES, _ZEROS = ("ones", "ones_like", "new_ones"), ("zeros", "zeros_like", "new_zeros")


@dataclass(frozen=True)
class Judgement:
    """One loss of a judge's answer that a backward pass starts from, against the same number for all samples."""

    use: LossUse
    judge: Value
    about: str  # REAL, CUT or MADE
    wanted: float


def judgements(program: Program, turn: Round) -> Iterator[Judgement]:
    """Those of a training loop that are made small, not large."""
    trained = {id(model) for made in made_optimisers(program) for model in made.models}
    uses = {id(use.call): use for use in loss_uses(program) if use.kind in _KINDS}
    for event in turn.backward:
        loss = loss_of(event)
        for sign, term in (signed_terms(loss) if loss is not None else None) or ():
            use = uses.get(id(term))
            if use is None or sign < 0 or use.prediction is None:
                continue
            asked = _module_call(use.prediction)
            wanted = _level(program, use)
            judge = bare(asked.function) if asked is not None else None
            if asked is not None and judge is not None and asked.args and wanted is not None:
                yield Judgement(use, judge, _about(asked.args[0], judge, trained), wanted)


def _module_call(value: Value) -> Call | None:
    """The call of a model that gives a value, behind what only lays it out."""
    for _ in range(20):
        if isinstance(value, Item):  # one of several answers
            value = value.base
            continue
        if not isinstance(value, Call):
            return None
        if is_module(value.function):
            return value
        op = operation(value)
        if op is None or op.name not in LAYOUT or not op.inputs:
            return None
        value = op.inputs[0]
    return None


def _about(value: Value, judge: Value, trained: set[int]) -> str:
    """Does what is judged come from another model that is trained, and do gradients go back there?"""
    cut = False
    for _ in range(40):
        if isinstance(value, Attribute) and value.name == "data":
            cut, value = True, value.base
            continue
        maker = _module_call(value)
        if maker is not None:
            if id(bare(maker.function)) in trained:
                return REAL if bare(maker.function) is judge else CUT if cut else MADE
            if not maker.args:
                break
            value = maker.args[0]  # a part of the judge
            continue
        value = resolved(value)
        op = operation(value)
        if op is not None and op.name == "detach":
            cut, value = True, op.inputs[0]
        elif op is not None and op.name in LAYOUT and op.inputs:
            value = op.inputs[0]
        elif isinstance(value, Call) and value.qualified in (*_WRAPPERS, "torch.cat") and value.args:
            value = _first(value.args[0])
        else:
            break
    return REAL


def _first(value: Value) -> Value:
    given = resolved(value)
    return given.items[0] if isinstance(given, Collection) and given.items else value


def _level(program: Program, use: LossUse) -> float | None:
    """The number that all targets of a loss are, if the text tells it."""
    value, factor = use.target, 1.0
    for _ in range(20):
        if value is None:
            return None
        value = resolved(value)
        filled = _filled_before(program, value, use.event)
        if filled is not None:
            return _number(filled.args[0], factor) if filled.args else None
        if isinstance(value, Operation) and value.operator == "*" and len(value.operands) == 2:
            left, right = (constant(operand) for operand in value.operands)
            if not isinstance(left, float | int) and not isinstance(right, float | int):
                return None
            known = isinstance(right, float | int)
            factor *= float(right if known else left)
            value = value.operands[0 if known else 1]
            continue
        if not isinstance(value, Call):
            return None
        op = operation(value)
        name = op.name if op is not None else value.qualified.rpartition(".")[2]
        if name in _ONES or name in _ZEROS:
            return factor * (name in _ONES)
        if name in ("full", "full_like", "new_full"):
            position = 0 if name == "new_full" else 1
            given = value.keywords.get("fill_value") or (
                value.args[position] if len(value.args) > position else None
            )
            return _number(given, factor)
        if name == "fill_":
            return _number(value.args[0] if value.args else None, factor)
        if op is not None and op.name in LAYOUT and op.inputs:
            value = op.inputs[0]
        elif value.qualified in _WRAPPERS and value.args:
            value = value.args[0]
        else:
            return None
    return None


def _number(value: Value | None, factor: float) -> float | None:
    number = constant(resolved(value)) if value is not None else None
    return factor * number if isinstance(number, float | int) else None


def _filled_before(program: Program, value: Value, event: Event) -> Call | None:
    """The last `target.fill_(number)` that the loss comes after, where a tensor is used again and again."""
    last = None
    for other in program.methods_of("fill_"):
        call = other.call
        if call is None or call is value or call.receiver is None or other.order > event.order:
            continue
        if resolved(call.receiver) is value:
            last = call
    return last
