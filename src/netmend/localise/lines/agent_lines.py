"""Lines of agents and environments in the user's source: settings, reward functions, guards before learning, target updates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.localise.lines.follow import argument_origin, value_origin
from netmend.program.text.queries import Function, inside, last_name, names_in, site_of
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
