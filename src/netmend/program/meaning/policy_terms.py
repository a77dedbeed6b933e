"""Terms of a loss whose sign is known: a policy's gain and a critic's value of an action must grow, the divergence of a variational encoder must fall."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Collection, Element, Operation, Value, constant, resolved
from netmend.program.meaning.judged_answers import Answers, Pull, model_of, pulls
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import LAYOUT, behind, input_through, operation, walk
from netmend.program.meaning.signed_terms import signed_terms

Terms = list[tuple[int, Value]]

_GAIN = re.compile(
    r"reward|return|advantage|(^|_)advs?(_|$)|(^|_)gae|(^|_)td_?err|^delta$|^R$|^G$", re.IGNORECASE
)
_LOSS = re.compile("cost|loss|penal|regret|neg", re.IGNORECASE)
_LIKELIHOOD = re.compile(r"log_?p(rob|i|olicy|olicies)?s?(_|$)|logp", re.IGNORECASE)
_PROBABILITY = re.compile(r"prob|(^|_)pi(_|$)", re.IGNORECASE)
_RATIO = re.compile(r"ratio", re.IGNORECASE)
_CLIPPED = ("max", "maximum", "min", "minimum")


def falling_gain(terms: Terms) -> Value | None:
    """`log_prob * reward` or `ratio * advantage` that is minimised; also on one side of PPO's minimum only."""
    for sign, value in terms:
        op = operation(value)
        if op is not None and op.name in _CLIPPED and op.layer is None and len(op.inputs) == 2:
            sides = [_side(side) for side in op.inputs]
            if all(side is not None for side in sides) and any(sign * (side or 0) > 0 for side in sides):
                return value
            if sign > 0 and op.name in ("min", "minimum") and _is_clipped_gain(*op.inputs):
                return value
        elif isinstance(value, Operation) and sign * (_gain(value) or 0) > 0:
            return value
    return None


def _is_clipped_gain(one: Value, other: Value) -> bool:
    """`ratio * gain` beside `clamp(ratio) * gain`, whatever the gain is called: the smaller of them is to be raised."""
    first, second = (_factors(resolved(side), side.node) for side in (one, other))
    if first[0] < 0 or second[0] < 0 or len(first[1]) != 2 or len(second[1]) != 2:
        return False
    for plain, clipped in ((first[1], second[1]), (second[1], first[1])):
        for place, (value, _) in enumerate(clipped):
            op = operation(value)
            if op is None or op.name != "clamp" or op.input is None or not _is_exponential(op.input):
                continue
            gain, node = clipped[1 - place]
            ratio = resolved(op.input)
            is_same = {id(ratio), id(gain)} == {id(part) for part, _ in plain}
            if is_same and not _is_turned(gain) and not _LOSS.search(word(node)):
                return True
    return False


def _is_exponential(value: Value) -> bool:
    op = operation(resolved(value))
    return op is not None and op.name == "exp"


def _side(value: Value) -> int | None:
    terms = signed_terms(value)
    gain = _gain(terms[0][1]) if terms is not None and len(terms) == 1 else None
    return None if gain is None or terms is None else terms[0][0] * gain


def _gain(value: Value) -> int | None:
    """The sign of a product of a likelihood or a ratio with what it brings; None for anything else."""
    sign, factors = _factors(resolved(value), value.node)
    gains = [part for part, node in factors if _is_gain(word(node)) and not _is_turned(part)]
    chances = [node for part, node in factors if _is_chance(part, node)]
    return sign if len(gains) == 1 and len(chances) == 1 and len(factors) == 2 else None


def _is_gain(word: str) -> bool:
    return bool(_GAIN.search(word)) and not _LOSS.search(word)


def _factors(value: Value, node: ast.AST | None) -> tuple[int, list[tuple[Value, ast.AST | None]]]:
    """The factors of a product with the expressions they are written as, and its sign."""
    if isinstance(value, Operation) and value.operator == "*" and len(value.operands) == 2:
        written = value.node
        sides = (written.left, written.right) if isinstance(written, ast.BinOp) else (None, None)
        left, right = (
            _factors(resolved(part), side) for part, side in zip(value.operands, sides, strict=True)
        )
        return left[0] * right[0], [*left[1], *right[1]]
    if isinstance(value, Operation) and value.operator == "neg":
        inner = value.node.operand if isinstance(value.node, ast.UnaryOp) else None
        sign, factors = _factors(resolved(value.operands[0]), inner)
        return -sign, factors
    number = constant(value)
    if isinstance(number, int | float) and number:
        return (1 if number > 0 else -1), []
    return 1, [(value, node)]


def _is_chance(value: Value, node: ast.AST | None) -> bool:
    name, op = word(node), operation(value)
    if _is_log_prob(value):
        return True
    if op is not None and op.name == "clamp" and op.input is not None:
        return _RATIO.search(name) is not None or _is_chance(resolved(op.input), op.input.node)
    if op is not None and op.name == "log" and isinstance(op.value.node, ast.Call) and op.value.node.args:
        return bool(_PROBABILITY.search(word(op.value.node.args[0])))
    if op is not None and op.name == "exp":
        return bool(_RATIO.search(name) or _LIKELIHOOD.search(name))
    return bool(_LIKELIHOOD.search(name) or _RATIO.search(name))


def _is_log_prob(value: Value) -> bool:
    """`dist.log_prob(action)`, or one of a list of them."""
    kept = resolved(value.iterable) if isinstance(value, Element) else None
    if isinstance(kept, Collection):
        return bool(kept.items) and all(_is_log_prob(resolved(item)) for item in kept.items)
    return isinstance(value, Call) and value.method == "log_prob"


def _is_turned(value: Value) -> bool:
    """`values - returns`: an advantage with the other sign."""
    if not isinstance(value, Operation):
        return False
    if value.operator != "-" or not isinstance(value.node, ast.BinOp):
        return value.operator not in ("+", "*", "/", "@")
    return bool(_GAIN.search(word(value.node.right)) or re.search("target", word(value.node.right)))


def word(node: ast.AST | None) -> str:
    """The name that an expression goes by, through indices and methods."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = node.slice
        is_named = isinstance(key, ast.Constant) and isinstance(key.value, str)
        return str(key.value) if is_named and isinstance(key, ast.Constant) else word(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and re.search("target", word(node.left)):
        return "advantage"  # `td_target - value`
    if isinstance(node, ast.UnaryOp):
        return word(node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "log_prob":
            return "log_prob"
        owner = node.func.value
        is_library = isinstance(owner, ast.Name) and owner.id in ("torch", "np", "numpy")
        return word(node.args[0] if is_library and node.args else owner)
    return ""


def growing_divergence(terms: Terms) -> Value | None:
    """`1 + log_var - mu² - exp(log_var)` with this sign in a loss: minus the divergence, which training then makes ever larger."""
    for sign, value in terms:
        op = operation(value)
        if sign > 0 or op is None or op.name != "exp" or op.input is None:
            continue
        logarithm = resolved(op.input)
        if not any(other is logarithm and other_sign > 0 for other_sign, other in terms):
            continue
        if any(other_sign < 0 and _is_square(other) for other_sign, other in terms):
            return value
    return None


def _is_square(value: Value) -> bool:
    if isinstance(value, Operation):
        return value.operator == "**" and constant(resolved(value.operands[1])) == 2
    op = operation(value)
    return op is not None and (
        op.name == "square" or (op.name == "pow" and len(op.inputs) == 2 and constant(op.inputs[1]) == 2)
    )


_REWARD = re.compile(r"(^|_)(r|rs|rew|rews|reward|rewards)(_|\d|$)", re.IGNORECASE)
_LAYOUT_AND_DETACH = LAYOUT | {"detach"}
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
    part = behind(value, lambda part: input_through(part, _LAYOUT_AND_DETACH))
    written = part.node
    if not isinstance(part, Operation) or part.operator != "+" or not isinstance(written, ast.BinOp):
        return False
    plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    sides = (written.left, written.right)
    return any(isinstance(side, plain) and _REWARD.search(word(side)) for side in sides)


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
