"""Targets that a hand-written agent computes from its own estimates: `reward + gamma * value(next) * (1 - done)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.localise.lines.acting_source import StepCall, assigned, model_words
from netmend.program.text.queries import (
    Function,
    children,
    holds,
    inside,
    last_name,
    names_in,
    own_nodes,
    site_of,
    targets_of,
)
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site, Trace

_REWARD = re.compile(r"r|rs|rew|rews|(\w+_)?(reward|rewards|rews?)(_\w+)?", re.IGNORECASE)
_MASKING = ("where", "masked_fill", "masked_fill_", "masked_select", "zeros", "zeros_like", "mask")


@dataclass(frozen=True)
class Bootstrap:
    """One such target; `masked` unless it is plain that nothing takes the future away at the end of an episode."""

    site: Site
    masked: bool
    answer: Site  # the statement in which a model is asked for the next value
    negated: str = ""  # the name of what is added with a minus: `-reward + gamma * …`
    states: str = ""  # what the model is asked about, where the prediction is about the very same


def bootstraps(sources: Sources, trace: Trace, step: StepCall) -> list[Bootstrap]:
    """All targets in the program's files whose right-hand factor is an answer of one of its models."""
    words = model_words(trace)
    found: list[Bootstrap] = []
    for file in sources.files(step.file):
        tree = sources.tree(file)
        if tree is None:
            continue
        for scope in scopes(tree):
            for statement in own_nodes(scope):
                if not isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
                    continue
                if _is_objective(scope, statement):
                    continue
                for node in inside(statement, ast.BinOp):
                    if isinstance(node.op, ast.Add):
                        masked = _judge(node, scope, words, statement, step.flags)
                        if masked is not None:
                            asked = _asked(scope, node, words) or statement
                            sites = site_of(file, node), masked, site_of(file, asked)
                            states = _same_states(scope, node, words, step.reward)
                            found.append(Bootstrap(*sites, _negated(node), states))
    return found


def _is_objective(scope: ast.Module | Function, statement: ast.stmt) -> bool:
    """Whether gradients are taken of what the statement sets: `loss = actor_loss + 0.5 * critic_loss` weighs terms."""
    names = {last_name(target) for target in getattr(statement, "targets", ())}
    return any(
        isinstance(node, ast.Attribute) and node.attr == "backward" and last_name(node.value) in names
        for node in own_nodes(scope)
    )


def _judge(
    node: ast.BinOp, scope: ast.AST, words: set[str], statement: ast.stmt, flags: set[str]
) -> bool | None:
    """None when the sum is no such target; else whether the future may be masked."""
    for side in (node.left, node.right):
        factors = list(_factors(side))
        if len(factors) < 2:
            continue
        values = [factor for factor in factors if _is_answer(factor, scope, words)]
        if not values:
            continue
        others = [factor for factor in factors if factor not in values]
        plain = all(isinstance(other, ast.Name | ast.Attribute | ast.Constant) for other in others)
        hidden = any(_masks(part) for value in values for part in _made_of(scope, value, words))
        hidden = hidden or _rewritten(scope, values, statement)
        guarded = _guarded(scope, statement, flags) or _chosen(statement, node)
        return len(others) > 1 or not plain or hidden or guarded
    return None


def _negated(node: ast.BinOp) -> str:
    for side in (node.left, node.right):
        if isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.USub):
            return next(iter(names_in(side.operand)), "")
    return ""


def _same_states(scope: ast.Module | Function, node: ast.BinOp, words: set[str], reward: str) -> str:
    """`s` in `r + gamma * target(s).max(1)` beside `q(s).gather(1, a)`: the reward leads to other states than these."""
    if not any(name == reward or _REWARD.fullmatch(name) for name in names_in(node)):
        return ""
    made = {id(inner) for part in _made_of(scope, node, words) for inner in inside(part, ast.AST)}
    about = [call for call in _answers(scope, node, words) if call.args]
    predicted = [
        call
        for part in own_nodes(scope)
        if isinstance(part, ast.Attribute) and part.attr == "gather" and id(part) not in made
        for call in _answers(scope, part.value, words)
        if call.args
    ]
    names = {ast.unparse(call.args[0]) for call in about}
    name = names.pop() if len(names) == 1 else ""
    alike = [(one, other) for one in about for other in predicted if ast.unparse(other.args[0]) == name]
    means_one = name.isidentifier() and not any(_set_between(scope, name, *pair) for pair in alike)
    return name if alike and means_one else ""


def _set_between(scope: ast.Module | Function, name: str, one: ast.AST, other: ast.AST) -> bool:
    """Whether a name is given another value from one line to the other."""
    first, last = sorted((getattr(one, "lineno", 0), getattr(other, "lineno", 0)))
    stored = (n for n in own_nodes(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return any(node.id == name and first <= node.lineno <= last for node in stored)


def _answers(scope: ast.AST, node: ast.AST, words: set[str]) -> Iterator[ast.Call]:
    for part in _made_of(scope, node, words):
        call: ast.AST | None = part
        while isinstance(call, ast.Call) and words.intersection(names_in(call.func)):
            inner: ast.AST | None = call.func
            while isinstance(inner, ast.Attribute | ast.Subscript):  # `q(s).max(1)`, `q(s).data[0]`
                inner = inner.value
            if not isinstance(inner, ast.Call):
                yield call
            call = inner


def _asked(scope: ast.AST, node: ast.BinOp, words: set[str]) -> ast.Assign | None:
    """The assignment of a name in the sum whose value calls a model."""
    mentioned = set(names_in(node))
    for statement in inside(scope, ast.Assign):
        if mentioned.intersection(map(last_name, statement.targets)):
            calls = (part for part in inside(statement.value, ast.Call))
            if any(words.intersection(names_in(call.func)) for call in calls):
                return statement
    return None


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _is_answer(node: ast.expr, scope: ast.AST, words: set[str]) -> bool:
    """Whether a value comes from calling a model."""
    return any(
        isinstance(part, ast.Call) and words.intersection(names_in(part.func))
        for part in _made_of(scope, node, words)
    )


def _made_of(scope: ast.AST, node: ast.AST, words: set[str], hops: int = 3) -> Iterator[ast.AST]:
    """The parts of a value, through names, down to the answers of models; what a model is given is no part of its answer."""
    yield node
    if isinstance(node, ast.Call) and words.intersection(names_in(node.func)):
        return
    if isinstance(node, ast.Name) and hops:
        for value in assigned(scope, node.id):
            yield from _made_of(scope, value, words, hops - 1)
    for child in children(node):
        yield from _made_of(scope, child, words, hops)


def _masks(part: ast.AST) -> bool:
    """`a if done else b`, `torch.where(…)`, `1 - done`, `~done`."""
    if isinstance(part, ast.BinOp):
        return isinstance(part.op, ast.Sub) and isinstance(part.left, ast.Constant)
    if isinstance(part, ast.UnaryOp):
        return isinstance(part.op, ast.Invert | ast.Not)
    return isinstance(part, ast.IfExp) or (isinstance(part, ast.Call) and last_name(part.func) in _MASKING)


def _rewritten(scope: ast.AST, values: list[ast.expr], statement: ast.stmt) -> bool:
    """`q_next[done] = 0`, `q_next *= mask`, also of the target itself: something else happens to it."""
    names = {last_name(value) for value in values} | {name for value in values for name in names_in(value)}
    if isinstance(statement, ast.Assign):
        names |= {last_name(target) for target in statement.targets}
    for node in inside(scope, ast.Assign, ast.AugAssign):
        for target in targets_of(node):
            if isinstance(target, ast.Subscript) and last_name(target.value) in names:
                return True
            if isinstance(node, ast.AugAssign) and last_name(target) in names:
                return True
    return False


def _guarded(scope: ast.AST, statement: ast.stmt, flags: set[str]) -> bool:
    """Whether a condition decides about the target: an `else` branch, or a test of the end of the episode."""
    deciding = (
        node for node in inside(scope, ast.If) if node.orelse or flags.intersection(names_in(node.test))
    )
    return any(holds(node, statement) for node in deciding)


def _chosen(statement: ast.stmt, node: ast.BinOp) -> bool:
    """`reward if terminated else reward + …`: the sum is one branch of a choice."""
    return any(holds(choice, node) for choice in inside(statement, ast.IfExp))


def scopes(tree: ast.Module) -> Iterator[ast.Module | Function]:
    yield tree
    yield from inside(tree, ast.FunctionDef, ast.AsyncFunctionDef)
