"""The loop of a hand-written agent in its source: the step call, what it returns, where those names go, what is kept of a step."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.text.queries import Function, holds, inside, last_name, names_in, site_of, variables_in
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site, Trace, WorldFact

_MOST_HOPS = 3
_TRIES = re.compile(
    "eval|test|demo|play|record|watch", re.IGNORECASE
)  # functions that only show what an agent does
Scope = ast.Module | Function


@dataclass(frozen=True, eq=False)
class StepCall:
    """`observation, reward, terminated, truncated, info = env.step(action)`; a name is empty where no plain one takes the value.

    Gym's four values of old have one flag for both ends: `terminated`.
    """

    file: str
    statement: ast.Assign
    call: ast.Call
    scope: Scope
    observation: str
    reward: str
    terminated: str
    truncated: str

    @property
    def only_shows(self) -> bool:
        """Whether the function around is there to see what an agent does."""
        return not isinstance(self.scope, ast.Module) and bool(_TRIES.search(self.scope.name))

    @property
    def site(self) -> Site:
        return site_of(self.file, self.call)

    @property
    def flags(self) -> set[str]:
        """Names that say that an episode is over: both flags, and what is made of them."""
        plain = {name for name in (self.terminated, self.truncated) if name and name != "_"}
        return plain | set(self.combined)

    @property
    def combined(self) -> dict[str, ast.Assign]:
        """Names that hold `terminated or truncated`, in whatever spelling."""
        both = {self.terminated, self.truncated}
        found: dict[str, ast.Assign] = {}
        for node in inside(self.scope, ast.Assign):
            if both <= set(names_in(node.value)) and "" not in both:
                for target in node.targets:
                    if last_name(target):
                        found[last_name(target)] = node
        return found


def step_call(sources: Sources, world: WorldFact | None) -> StepCall | None:
    """The statement that steps an environment; None where a library does it."""
    if world is None or world.stepped is None:
        return None
    function = sources.function_around(world.stepped)
    if function is not None and function.name == "step":
        return _through_own_class(sources, world.stepped.file)
    line = world.stepped.line
    steps = _step_statements(sources, world.stepped.file)
    return next((step for step in steps if step.statement.lineno <= line <= _last_line(step.statement)), None)


def _through_own_class(sources: Sources, near: str) -> StepCall | None:
    """A class around the environment passes its step on: who calls that one. None where several do."""
    found = []
    for file in sources.files(near):
        for step in _step_statements(sources, file):
            passes_on = not isinstance(step.scope, ast.Module) and step.scope.name == "step"
            if not passes_on and not step.only_shows:
                found.append(step)
    return found[0] if len(found) == 1 else None


def _step_statements(sources: Sources, file: str) -> Iterator[StepCall]:
    """All statements of a file that take an environment's step apart: into five values, or into four as Gym had it until 2022."""
    tree = sources.tree(file)
    for node in sources.nodes(file):
        if not isinstance(node, ast.Assign) or tree is None:
            continue
        call, targets = node.value, node.targets[0]
        if not isinstance(call, ast.Call) or last_name(call.func) != "step":
            continue
        if isinstance(targets, ast.Tuple) and len(targets.elts) in (4, 5):
            names = [last_name(target) for target in targets.elts]
            truncated = names[3] if len(names) == 5 else ""
            scope = sources.function_around(site_of(file, node)) or tree
            yield StepCall(file, node, call, scope, names[0], names[1], names[2], truncated)


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def kept(step: StepCall, names: set[str]) -> bool:
    """Whether one of the names goes anywhere but into a condition: into a buffer, a list, a sum."""
    apart = [*_tests(step.scope), *(node.value for node in step.combined.values())]
    return any(
        isinstance(node.ctx, ast.Load)
        and last_name(node) in names
        and not any(holds(part, node) for part in apart)
        for node in inside(step.scope, ast.Name, ast.Attribute)
    )


def _tests(scope: ast.AST) -> Iterator[ast.expr]:
    for node in inside(scope, ast.If, ast.While, ast.IfExp, ast.Assert):
        yield node.test


def assigned(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """All values that a scope gives to a name."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
                if any(last_name(part) == name for part in parts):
                    yield node.value
        elif (
            isinstance(node, ast.AnnAssign | ast.NamedExpr)
            and last_name(node.target) == name
            and node.value is not None
        ):
            yield node.value


def resolved(scope: ast.AST, node: ast.expr, hops: int = _MOST_HOPS) -> Iterator[ast.expr]:
    """An expression and those behind the names in it."""
    yield node
    if hops:
        for name in variables_in(node):
            for value in assigned(scope, name):
                if value is not node:
                    yield from resolved(scope, value, hops - 1)


def model_words(trace: Trace) -> set[str]:
    """Names by which the program calls its models: "self.q_net" → "q_net", "agent.critic" → "agent", "critic"."""
    words = {part for model in trace.models for part in model.name.partition("#")[0].split(".")}
    return words - {"self", "model", "sequential", "linear", ""} | {
        model.name for model in trace.models if model.name == "model"
    }


_KEEPING = ("append", "push", "add", "store", "put", "insert", "memorize", "remember", "save", "record")


@dataclass(frozen=True)
class Standstill:
    """Both places of a kept transition hold the same state."""

    site: Site  # where it is kept
    state: str
    advanced: Site | None = None  # `state = next_state`, where that comes before the keeping


def standstill(step: StepCall) -> Standstill | None:
    """`push(state, action, reward, state, done)`, or `state = next_state` before `push(state, action, reward, next_state, done)`."""
    if not step.reward or step.observation in ("", "_") or not step.call.args:
        return None
    acted_on = {name for part in resolved(step.scope, step.call.args[0]) for name in names_in(part)}
    for kept in _kept(step):
        parts = _parts(kept)
        if not any(step.reward in set(names_in(part)) for part in parts):
            continue
        names = [_state(part) for part in parts]
        states = [name for name in names if name in acted_on and name != step.reward]
        twice = next((name for name in states if states.count(name) > 1), "")
        if twice and not any(step.observation in set(names_in(part)) for part in parts):
            return Standstill(site_of(step.file, kept), twice)
        if step.observation in names:
            for name in states:
                moved = _moved_before(step, name, kept)
                if moved is not None and name != step.observation:
                    return Standstill(site_of(step.file, kept), name, moved)
    return None


def _kept(step: StepCall) -> Iterator[ast.Call]:
    """Calls after the step, in its own block, that keep something of it."""
    for statement in _following(step):
        for node in inside(statement, ast.Call):
            name = last_name(node.func).lower()
            if any(name.startswith(word) for word in _KEEPING):
                yield node


def _parts(call: ast.Call) -> list[ast.expr]:
    """What is kept: the arguments, or the members of the one tuple or record that is the argument."""
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if len(parts) == 1 and isinstance(parts[0], ast.Tuple | ast.List):
        return parts[0].elts
    if len(parts) == 1 and isinstance(parts[0], ast.Call) and len(parts[0].args) > 2:
        return list(parts[0].args)
    return parts


def _state(node: ast.expr) -> str:
    """The one name that a value is a form of: `state`, `torch.tensor([state])`, `state.copy()`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.List) and len(node.elts) == 1:
        return _state(node.elts[0])
    if isinstance(node, ast.Call):
        if len(node.args) == 1:
            return _state(node.args[0])
        if isinstance(node.func, ast.Attribute) and not node.args:
            return _state(node.func.value)
    return ""


def _moved_before(step: StepCall, name: str, kept: ast.Call) -> Site | None:
    """`name = observation` in the block of the step, between it and the keeping."""
    for statement in _following(step):
        if statement.lineno <= kept.lineno <= (statement.end_lineno or statement.lineno):
            break
        if isinstance(statement, ast.Assign) and _names(statement) == [name]:
            is_moved = _state(statement.value) == step.observation
            return site_of(step.file, statement) if is_moved else None
    return None


def _names(statement: ast.Assign) -> list[str]:
    return [target.id for target in statement.targets if isinstance(target, ast.Name)]


def _following(step: StepCall) -> list[ast.stmt]:
    """The statements after the step in its block."""
    for node in ast.walk(step.scope):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and step.statement in block:
                return block[block.index(step.statement) + 1 :]
    return []
