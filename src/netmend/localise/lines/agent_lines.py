"""Lines of agents in the user's source: settings, reward functions, guards before learning, updates of targets, the sign of a policy's loss."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.localise.lines.acting_source import assigned
from netmend.localise.lines.bootstrap_source import scopes
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


_MOST_CALLERS = 6
_COPYING = {
    "load_state_dict", "copy_", "lerp_", "mul_", "add_", "deepcopy", "vector_to_parameters", "_foreach_lerp_", "_foreach_mul_", "update_parameters",
}  # fmt: skip
_OVER_WEIGHTS = {"parameters", "named_parameters", "state_dict", "buffers", "modules"}
_CALLED_BY_LIBRARIES = ("__", "on_", "training_", "optimizer_")


def copied_again(sources: Sources, near: str) -> bool:
    """Whether a line that may copy weights lies in a loop, or in a function that is called in one or by who knows whom."""
    return any(_again(sources, near, site) for file in sources.files(near) for site in _copies(sources, file))


def _copies(sources: Sources, file: str) -> Iterator[Site]:
    for node in sources.nodes(file):
        is_data = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Attribute) and target.attr == "data" for target in node.targets
        )
        if is_data or (isinstance(node, ast.Call) and last_name(node.func) in _COPYING):
            yield site_of(file, node)  # type: ignore[arg-type]


def _again(sources: Sources, near: str, site: Site, hops: int = _MOST_CALLERS) -> bool:
    function = sources.function_around(site)
    start = 0 if function is None else function.lineno
    if any(_repeats(node) for node in _loops(sources, site, start)):
        return True
    if function is None or function.name == "__init__":
        return False
    if not hops or function.name.startswith(_CALLED_BY_LIBRARIES):
        return True
    return any(
        called is None or _again(sources, near, called, hops - 1)
        for called in _mentions(sources, near, function.name)
    )


def _loops(sources: Sources, site: Site, start: int) -> Iterator[ast.For | ast.While]:
    for node in sources.nodes(site.file):
        if isinstance(node, ast.While | ast.For) and start <= node.lineno <= site.line <= (
            node.end_lineno or 0
        ):
            yield node


def _repeats(loop: ast.For | ast.While) -> bool:
    """Whether a loop is one of training, not over a network's weights."""
    return isinstance(loop, ast.While) or not _OVER_WEIGHTS.intersection(names_in(loop.iter))


def _mentions(sources: Sources, near: str, name: str) -> Iterator[Site | None]:
    """Calls of a function; None for a mention that is no call: it is handed to somebody."""
    for file in sources.files(near):
        calls = list(sources.calls_named(file, name))
        yield from (site_of(file, call) for call in calls)
        called = {id(call.func) for call in calls}
        for node in sources.nodes(file):
            is_mention = isinstance(node, ast.Name | ast.Attribute) and last_name(node) == name
            if is_mention and id(node) not in called:
                yield None


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
