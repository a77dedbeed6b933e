"""Where a loss pulls a network's answer: to a number, up or down; through means, hinges, logarithms and squares."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import Body, CallEvent, Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Function,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.losses import LossUse, loss_uses
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import LAYOUT, behind, input_through, operation
from netmend.program.meaning.roles import bare
from netmend.program.meaning.signed_terms import sign_of
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

_WRAPPERS = ("torch.autograd.Variable",)
ONES, ZEROS = ("ones", "ones_like", "new_ones"), ("zeros", "zeros_like", "new_zeros")


def level(program: Program, use: LossUse) -> float | None:
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
        if name in ONES or name in ZEROS:
            return factor * (name in ONES)
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
    number = constant(resolved(value))
    return factor * number if isinstance(number, float | int) else None


def _filled_before(program: Program, value: Value, event: Event) -> Call | None:
    """The last `target.fill_(number)` that the loss comes after, where a tensor is used again and again."""
    last = None
    for other in program.methods_of("fill_"):
        call = other.call
        if call is value or call.receiver is None or other.order > event.order:
            continue
        if resolved(call.receiver) is value:
            last = call
    return last


_LEVELLED = ("bce", "bce_logits", "mse")
_SUMS = LAYOUT | {"mean", "sum"}
# The larger what goes in, the larger what comes out.
_RISING = {
    "relu",
    "softplus",
    "sigmoid",
    "log",
    "log_sigmoid",
    "log2",
    "log10",
    "log1p",
    "exp",
    "tanh",
    "leaky_relu",
    "clamp",
    "elu",
}
_SMALLER_OF = ("min", "minimum", "max", "maximum")
_MOST_TERMS = 60


@dataclass(frozen=True)
class Pull:
    """What one term wants of an answer."""

    answer: Call  # of the model
    node: ast.AST
    level: float | None  # the number that it is compared with
    upward: bool | None  # None where only the number is known
    use: LossUse | None = None

    def agrees(self, other: Pull) -> bool | None:
        """Do two terms want the same? None where that cannot be told."""
        if self.level is not None and other.level is not None:
            return self.level == other.level
        if self.upward is None or other.upward is None:
            return None
        return self.upward == other.upward


def is_model(value: Value | None) -> bool:
    """A module, or one of several that a setting chooses from."""
    model = bare(value)
    return all(map(is_module, model.options)) if isinstance(model, Either) else is_module(model)


def model_of(call: Call) -> Value | None:
    """The model that a call asks: by calling it, or by one of its own methods."""
    if is_model(call.function):
        return bare(call.function)
    function = resolved(call.function)
    if isinstance(function, Function) and function.owner is not None and is_model(function.owner):
        return bare(function.owner)
    return None


def _laid_out(value: Value) -> Value | None:
    return value.base if isinstance(value, Item) else input_through(value, LAYOUT)


class Answers:
    """Answers of models, found in values whether the model's inside was followed or not."""

    def __init__(self, program: Program, asked: list[CallEvent]) -> None:
        self.program = program
        self._losses = {id(use.call): use for use in loss_uses(program)}
        self._known: dict[int, Call] = {}
        # Of calls within one another, as in forward(), the outermost is the model that is asked.
        for event in sorted(asked, key=lambda event: -_depth(event)):
            call = event.call
            inside = resolved(call)
            self._known[id(call)] = self._known[id(inside)] = call
            if isinstance(inside, Collection):  # several answers
                for item in inside.items:
                    self._known[id(item)] = self._known[id(resolved(item))] = call

    def find(self, value: Value) -> Call | None:
        """The model's call that gives a value, behind what only lays it out."""
        return self._known.get(
            id(behind(value, lambda part: None if id(part) in self._known else _laid_out(part)))
        )

    def use(self, value: Value) -> LossUse | None:
        return self._losses.get(id(value))

    def uses(self, loop: Loop) -> Iterator[LossUse]:
        """The losses of answers that are computed in a loop."""
        for use in self._losses.values():
            if use.prediction is not None and loop in use.event.loops() and self.find(use.prediction):
                yield use


def _depth(event: Event) -> int:
    return sum(isinstance(part, Body) for part in event.around())


def pulls(answers: Answers, loss: Value) -> list[Pull]:
    """All terms of a loss that pull an answer and are understood."""
    return _pulls(answers, 1, loss, [_MOST_TERMS])


def _pulls(answers: Answers, sign: int, value: Value, left: list[int]) -> list[Pull]:
    left[0] -= 1
    if left[0] < 0:
        return []
    answer = answers.find(value)
    if answer is not None:
        return [Pull(answer, value.node or ast.Pass(), None, sign < 0)]
    value = resolved(value)
    use = answers.use(value)
    if use is not None:
        return list(_of_loss(answers, sign, use))
    if isinstance(value, Operation):
        return _of_operation(answers, sign, value, left)
    op = operation(value)
    if op is None or op.layer is not None or not op.inputs:
        return []
    if op.name == "neg":
        return _pulls(answers, -sign, op.inputs[0], left)
    if op.name in _SUMS:
        return _pulls(answers, sign, op.inputs[0], left)
    if op.name in _SMALLER_OF and len(op.inputs) == 2:
        return [pull for side in op.inputs for pull in _pulls(answers, sign, side, left)]
    if op.name in _RISING:
        inner = _pulls(answers, sign, op.inputs[0], left)
        return inner if len(inner) == 1 and inner[0].level is None else []
    if op.name in ("pow", "square"):
        is_square = op.name == "square" or (len(op.inputs) > 1 and constant(op.inputs[1]) == 2)
        return _of_square(answers, sign, op.inputs[0], value) if is_square else []
    return []


def _of_loss(answers: Answers, sign: int, use: LossUse) -> Iterator[Pull]:
    wanted = level(answers.program, use) if use.kind in _LEVELLED else None
    answer = answers.find(use.prediction) if use.prediction is not None else None
    if answer is None or wanted is None:
        return
    is_upward = None if use.kind == "mse" or wanted == 0.5 else (wanted > 0.5) == (sign > 0)
    yield Pull(answer, use.node, wanted if sign > 0 else None, is_upward, use)


def _of_operation(answers: Answers, sign: int, value: Operation, left: list[int]) -> list[Pull]:
    operands = value.operands
    if value.operator == "neg":
        return _pulls(answers, -sign, operands[0], left)
    if len(operands) != 2:
        return []
    first, second = operands
    if value.operator in ("+", "-"):
        other = sign if value.operator == "+" else -sign
        return [*_pulls(answers, sign, first, left), *_pulls(answers, other, second, left)]
    if value.operator == "**":
        return _of_square(answers, sign, first, value) if constant(resolved(second)) == 2 else []
    if value.operator in ("*", "/"):
        right, before = sign_of(second), sign_of(first)
        if right is not None:
            return _pulls(answers, sign * right, first, left)
        if before is not None and value.operator == "*":
            return _pulls(answers, sign * before, second, left)
    return []


def _of_square(answers: Answers, sign: int, value: Value, whole: Value) -> list[Pull]:
    """`(D(x) - 1) ** 2`, `D(x) ** 2`: a distance from a number."""
    wanted: object = 0.0
    answer = answers.find(value)
    inner = resolved(value)
    if answer is None and isinstance(inner, Operation) and inner.operator in ("-", "+"):
        answer, other = answers.find(inner.operands[0]), resolved(inner.operands[-1])
        number = other.value if isinstance(other, Const) else None
        if isinstance(number, int | float):
            wanted = float(number) * (1 if inner.operator == "-" else -1)
        else:
            return []
    if answer is None or sign < 0 or not isinstance(wanted, float):
        return []
    return [Pull(answer, whole.node or ast.Pass(), wanted, None)]


_TITLE = "Use {}"


def wanted_instead(program: Program, wrong: Pull, right: Pull) -> Fix | None:
    """`bce(D(fake), zeros)` beside `bce(D(real), ones)` → `bce(D(fake), ones)`; None where the text is not that plain."""
    given, other = _target(wrong), _target(right)
    if isinstance(given, ast.Name) and isinstance(other, ast.Name) and given.id != other.id:
        edits = replace(program, given, other.id)
        return Fix(_TITLE.format(f"`{other.id}`"), edits) if edits else None
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute | ast.Name):
        name = given.func.attr if isinstance(given.func, ast.Attribute) else given.func.id
        filled = dict(zip((*ONES, *ZEROS), (*ZEROS, *ONES), strict=True)).get(name)
        if filled is not None and right.level == float(filled in ONES):
            before, _, after = program.source(given).partition(name)
            edits = replace(program, given, f"{before}{filled}{after}")
            return Fix(_TITLE.format(f"`{filled}`"), edits) if edits else None
    return None


def _target(pull: Pull) -> ast.expr | None:
    call = pull.use.call.node if pull.use is not None else None
    if not isinstance(call, ast.Call):
        return None
    keyword = next((keyword.value for keyword in call.keywords if keyword.arg == "target"), None)
    return keyword if keyword is not None else call.args[1] if len(call.args) > 1 else None
