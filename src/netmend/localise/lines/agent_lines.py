"""Lines of agents in the user's source: settings, reward functions, guards before learning, updates of targets, the sign of a policy's loss."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.localise.lines.acting_source import assigned
from netmend.localise.lines.bootstrap_source import scopes
from netmend.program.engine.history import STORE, Body, Event
from netmend.program.of_run import program_of
from netmend.program.settings import argument_origin, value_origin
from netmend.program.text.queries import Function, children, inside, last_name, names_in, own_nodes, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import AgentFact, Site, WorldFact


def setting_line(sources: Sources, agent: AgentFact, name: str) -> Site | None:
    """Where a setting of an agent is given; the line that makes the agent where its default holds."""
    origin = argument_origin(sources, agent.created, name)
    if origin is not None:
        return origin.site
    for file in sources.files(agent.created.file if agent.created is not None else ""):
        for node in sources.nodes(file):
            if isinstance(node, ast.Dict):  # settings that are handed over as `**settings`
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == name:
                        return site_of(file, value)
            elif isinstance(node, ast.Call) and last_name(node.func) == "dict":
                given = sources.argument(node, name)
                if given is not None:
                    return site_of(file, given)
    return agent.created


def planned_line(sources: Sources, agent: AgentFact) -> Site | None:
    """Where the number of steps is given."""
    origin = argument_origin(sources, agent.learned, "total_timesteps", 0)
    return agent.learned if origin is None else origin.site


def method_of(world: WorldFact, *names: str, kind: str = "") -> Site | None:
    """The program's own method of an environment or wrapper: the first of these names; of one class if that is given."""
    for name in names:
        for site in world.own:
            owner, _, method = site.function.rpartition(".")
            if method == name and kind in ("", owner):
                return site
    return None


def returned_line(sources: Sources, method: Site | None, position: int) -> Site | None:
    """The line that makes the n-th value that a method returns; of a method that returns one value, that value."""
    function = None if method is None else _function_at(sources, method)
    if method is None or function is None:
        return method
    for node in inside(function, ast.Return):
        if node.value is None:
            continue
        value = node.value
        if isinstance(value, ast.Tuple):
            if position >= len(value.elts):
                continue
            value = value.elts[position]
        if isinstance(value, ast.Name):
            made = [
                statement
                for statement in inside(function, ast.Assign, ast.AugAssign)
                if any(
                    last_name(target) == value.id
                    for target in (
                        statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    )
                )
            ]
            if made:
                return site_of(method.file, made[-1])
        return site_of(method.file, value)
    return method


def _function_at(sources: Sources, method: Site) -> Function | None:
    return next(
        (
            node
            for node in sources.nodes(method.file)
            if isinstance(node, Function)
            and method.line in (node.lineno, *(d.lineno for d in node.decorator_list))
        ),
        None,
    )


@dataclass(frozen=True)
class Guard:
    """`if len(buffer) < WARM_UP: return` before learning: the line of the number, its value, and the size of the buffer if it has one."""

    number: Site
    value: int | None
    buffer: Site | None = None
    buffer_size: int | None = None


def learning_guard(sources: Sources, near: str) -> Guard | None:
    """The condition that keeps the program from learning: around the optimiser's step, or an early way out before it."""
    learning = _learning_functions(sources, near)
    for file in sources.files(near):
        for node in sources.nodes(file, ast.If):
            holds = _updates(node.body, learning)
            leaves = len(node.body) == 1 and isinstance(node.body[0], ast.Return | ast.Continue)
            function = sources.function_around(site_of(file, node.test))
            before = leaves and function is not None and _updates(function.body, learning)
            if not holds and not before:
                continue
            for test in inside(node.test, ast.Compare):
                if len(test.comparators) == 1:
                    guard = _guard(sources, file, test)
                    if guard is not None:
                        return guard
    return None


def _guard(sources: Sources, file: str, test: ast.Compare) -> Guard | None:
    sides = (test.left, test.comparators[0])
    counted = next(
        (side for side in sides if not isinstance(side, ast.Constant) and not _is_setting(side)), None
    )
    number = sides[1] if counted is sides[0] else sides[0]
    if counted is None or (isinstance(counted, ast.BinOp) and isinstance(counted.op, ast.Mod)):
        return None
    place = value_origin(sources, file, number)
    names = set(names_in(counted)) - {"len", "self"}
    for other in sources.files(file):
        for node in sources.nodes(other):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            if not names.intersection(last_name(target) for target in node.targets):
                continue
            for argument in (*(k.value for k in node.value.keywords), *node.value.args):
                origin = value_origin(sources, other, argument)
                size = _whole(sources, origin)
                if size is not None and size > 1:
                    return Guard(place, _whole(sources, place), origin, size)
    return Guard(place, _whole(sources, place))


def _is_setting(node: ast.expr) -> bool:
    """A constant by convention (`WARM_UP`), an option (`args.learning_starts`) or arithmetic of them."""
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id != "self"
    return False


def _whole(sources: Sources, site: Site) -> int | None:
    """The whole number that stands at a place."""
    lines = sources.lines(site.file)
    if not 0 < site.line <= len(lines) or site.column is None or site.end_column is None:
        return None
    text = lines[site.line - 1].encode()[site.column : site.end_column].decode(errors="replace")
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return int(value) if isinstance(value, int | float) and value == int(value) else None


def _learning_functions(sources: Sources, near: str) -> set[str]:
    """`backward`, and the program's functions that call it."""
    found = {"backward"}
    for file in sources.files(near):
        for node in sources.nodes(file):
            if isinstance(node, Function) and _updates(node.body, {"backward"}):
                found.add(node.name)
    return found


def _updates(body: list[ast.stmt], learning: set[str]) -> bool:
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in learning
        for statement in body
        for node in ast.walk(statement)
    )


def target_updates(sources: Sources, near: str, name: str) -> Iterator[Site]:
    """Lines that copy weights into a network: `target.load_state_dict(…)`, or loops over its parameters."""
    last = name.rpartition(".")[2]
    for file in sources.files(near):
        for node in sources.nodes(file):
            copies = isinstance(node, ast.Call) and last_name(node.func) in ("load_state_dict", "copy_")
            if isinstance(node, ast.Call) and copies and last in names_in(node.func):
                yield site_of(file, node)


def made_line(sources: Sources, near: str, name: str) -> Site | None:
    """The assignment that makes an object of this name."""
    last = name.rpartition(".")[2]
    for file in sources.files(near):
        for node in sources.nodes(file, ast.Assign):
            if isinstance(node.value, ast.Call):
                for target in node.targets:
                    parts = target.elts if isinstance(target, ast.Tuple) else [target]
                    if any(last_name(part) == last for part in parts):
                        return site_of(file, node)
    return None


_COPYING = {
    "load_state_dict", "copy_", "lerp_", "mul_", "add_", "deepcopy", "vector_to_parameters", "_foreach_lerp_", "_foreach_mul_", "update_parameters",
}  # fmt: skip
_OVER_WEIGHTS = {"parameters", "named_parameters", "state_dict", "buffers", "modules"}
_CALLED_BY_LIBRARIES = ("__", "on_", "training_", "optimizer_")


def copied_again(sources: Sources, near: str) -> bool:
    """Whether a line that may copy weights runs in a loop, or in a function that is called by who knows whom."""
    programs = program_of(sources).programs(near)
    return any(_is_copied_again(sources, near, event) for program in programs for event in program.events)


def _is_copied_again(sources: Sources, near: str, event: Event) -> bool:
    sets_data = event.kind == STORE and event.target is not None and event.target.name == "data"
    copies = isinstance(event.node, ast.Call) and last_name(event.node.func) in _COPYING
    if not sets_data and not copies:
        return False
    if any(_repeats(loop.node) for loop in event.loops()):
        return True
    entry = next((part for part in event.around() if isinstance(part, Body) and part.call is None), None)
    name = "__init__" if entry is None else entry.function.name
    return name != "__init__" and (
        name.startswith(_CALLED_BY_LIBRARIES) or _is_handed_over(sources, near, name)
    )


def _repeats(loop: ast.AST) -> bool:
    """Whether a loop is one of training, not over a network's weights."""
    over_weights = isinstance(loop, ast.For) and not _OVER_WEIGHTS.isdisjoint(names_in(loop.iter))
    return isinstance(loop, ast.For | ast.While) and not over_weights


def _is_handed_over(sources: Sources, near: str, name: str) -> bool:
    """Whether a function is mentioned where it is not called."""
    for file in sources.files(near):
        called = {id(call.func) for call in sources.calls_named(file, name)}
        mentions = (node for node in sources.nodes(file) if isinstance(node, ast.Name | ast.Attribute))
        if any(last_name(node) == name and id(node) not in called for node in mentions):
            return True
    return False


# Factors of a log-likelihood that are no reward: temperatures, costs, switches.
_OTHER = re.compile("alpha|temp|ent|coef|beta|cost|loss|penal|neg|mask", re.IGNORECASE)
_LIKELIHOODS = ("log_prob", "logp", "log_probs")


def lowered_likelihood(sources: Sources, file: str) -> Site | None:
    """`(logp * weights).mean()`, where neither the product nor what it is kept or returned as is turned."""
    tree = sources.tree(file)
    if tree is None:
        return None
    turned = {name for node in inside(tree, ast.UnaryOp, ast.BinOp) for name in _turned(node)}
    for scope in scopes(tree):
        for statement in own_nodes(scope):
            if not isinstance(statement, ast.Assign | ast.Return):
                continue
            kept = {last_name(target) for target in getattr(statement, "targets", ())}
            if isinstance(statement, ast.Return) and isinstance(scope, Function):
                kept = {scope.name}
            if kept & turned or statement.value is None:
                continue
            product = next(_products(scope, statement.value), None)
            if product is not None:
                return site_of(file, product)
    return None


def _turned(node: ast.AST) -> Iterator[str]:
    """Names that stand behind a minus somewhere."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from names_in(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield from names_in(node.right)


def _products(scope: ast.AST, node: ast.AST) -> Iterator[ast.BinOp]:
    """Products of a likelihood and a plain value, on the way to which no sign changes."""
    if isinstance(node, ast.UnaryOp):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield from _products(scope, node.left)
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for chance, gain in ((node.left, node.right), (node.right, node.left)):
            if _is_likelihood(scope, chance) and _is_plain(scope, gain):
                yield node
        return
    for child in children(node):
        yield from _products(scope, child)


def _is_likelihood(scope: ast.AST, node: ast.expr, hops: int = 2) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) == "log_prob"
    if not isinstance(node, ast.Name):
        return False
    values = list(assigned(scope, node.id))
    made = hops > 0 and any(_is_likelihood(scope, value, hops - 1) for value in values)
    return made or (not values and node.id in _LIKELIHOODS)


def _is_plain(scope: ast.AST, node: ast.expr) -> bool:
    """A name that is no temperature or cost, and was not made with a minus."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return False
    name = last_name(node.value if isinstance(node, ast.Subscript) else node)
    if not name or _OTHER.search(name):
        return False
    return not any(part for value in assigned(scope, name) for part in inside(value, ast.USub))
