"""An actor that is trained through a critic: the critic's value of its action has to rise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Operation, Value, resolved
from netmend.program.meaning.heads import loss_uses
from netmend.program.meaning.judged_answers import Answers, Pull, model_of, pulls
from netmend.program.meaning.operations import LAYOUT, operation, walk
from netmend.program.meaning.policy_terms import word
from netmend.program.meaning.remember import once

_REWARD = re.compile(r"(^|_)(r|rs|rew|rews|reward|rewards)(_|\d|$)", re.IGNORECASE)
_DISTANCES = ("mse", "l1", "smooth_l1", "huber")


def falling_value(program: Program, loss: Value) -> Pull | None:
    """`critic(state, actor(state)).mean()` that is minimised, of a critic that learns what rewards add up to."""
    answers = all_answers(program)
    found = pulls(answers, loss)
    for pull in found:
        critic = model_of(pull.answer)
        if pull.upward is not False or critic is None or not _is_made(pull.answer, critic):
            continue
        if any(other.upward and model_of(other.answer) is critic for other in found):
            continue  # one value against another
        if any(_is_return(target) for target in _targets(program, answers, critic)):
            return pull
    return None


def _is_made(answer: Call, critic: Value) -> bool:
    """Does another model choose what the critic judges?"""
    return any(
        isinstance(part, Call) and (model := model_of(part)) is not None and model is not critic
        for argument in (*answer.args, *answer.keywords.values())
        for part in walk(argument)
    )


def _targets(program: Program, answers: Answers, critic: Value) -> Iterator[Value]:
    """What the critic's answers are compared with: by a loss, or as `(q - target) ** 2`."""
    for use in loss_uses(program):
        if use.kind in _DISTANCES and use.prediction is not None and use.target is not None:
            for one, other in ((use.prediction, use.target), (use.target, use.prediction)):
                if _answers(answers, one, critic):
                    yield other
    for one, other in _differences(program):
        if _answers(answers, one, critic):
            yield other
        elif _answers(answers, other, critic):
            yield one


def _answers(answers: Answers, value: Value, critic: Value) -> bool:
    answer = answers.find(value)
    return answer is not None and model_of(answer) is critic


def _is_return(value: Value) -> bool:
    """`reward + gamma * …`: the reward with a plus."""
    for part in _unwrapped(value):
        written = part.node
        if isinstance(part, Operation) and part.operator == "+" and isinstance(written, ast.BinOp):
            plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
            if any(
                isinstance(side, plain) and _REWARD.search(word(side))
                for side in (written.left, written.right)
            ):
                return True
    return False


def _unwrapped(value: Value) -> Iterator[Value]:
    value = resolved(value)
    for _ in range(10):
        yield value
        op = operation(value)
        if op is None or not op.inputs or op.name not in (*LAYOUT, "detach"):
            return
        value = resolved(op.inputs[0])


@once
def all_answers(program: Program) -> Answers:
    return Answers(program, [event for event in program.calls if model_of(event.call) is not None])


@once
def _differences(program: Program) -> tuple[tuple[Value, Value], ...]:
    """The two sides of every difference that a mean is taken of."""
    found = []
    for event in program.methods_of("mean", "sum"):
        call = event.call
        squared = resolved(call.receiver)
        op = operation(squared)
        inner = op.inputs[0] if op is not None and op.name in ("pow", "square") and op.inputs else None
        if isinstance(squared, Operation) and squared.operator == "**":
            inner = squared.operands[0]
        inner = resolved(inner)
        if isinstance(inner, Operation) and inner.operator == "-" and len(inner.operands) == 2:
            found.append((inner.operands[0], inner.operands[1]))
    return tuple(found)
