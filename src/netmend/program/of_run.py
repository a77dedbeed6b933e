"""The program of a run as one model: evaluated once, with everything in it, and asked by the lines of a trace.

A rule wants proof: every path has to say it (`all_origins`). A line to show, or a place to mend, is the best that can be told:
`likely` takes any path, and where nothing was evaluated there is still the text (`program.text`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from netmend.program.engine.history import CALL, Body, Event
from netmend.program.engine.program import Program
from netmend.program.engine.project import Project
from netmend.program.engine.trees import Parsed
from netmend.program.engine.values import Call, Either, Value
from netmend.program.meaning.operations import Op, operation
from netmend.program.text.file import File
from netmend.program.text.queries import site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site


class EvaluatedProgram:
    """The files of a program with what they would do. Each is evaluated when it is asked about, and then kept."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._project = _SharedTrees(sources)
        self._evaluated: dict[str, Program | None] = {}

    def of(self, file: str) -> Program | None:
        """One file with all that it calls, in other files too; None where it cannot be read."""
        path = str(self.sources.path(file))
        if path not in self._evaluated:
            parsed = self.sources.file(path)
            program = Program(parsed.text, path, parsed.tree, self._project) if parsed is not None else None
            if program is not None:
                program.machine.seen = {}
            self._evaluated[path] = program
        return self._evaluated[path]

    def programs(self, file: str) -> Iterator[Program]:
        """The evaluations that may come to a file: the script's, and the one of the file alone."""
        for start in dict.fromkeys(
            str(self.sources.path(name)) for name in (self.sources.script, file) if name
        ):
            program = self.of(start)
            if program is not None:
                yield program

    def at(self, site: Site | None) -> list[Event]:
        """The call at a site, each time it happens: as the script comes to it, else as its own file is read alone."""
        file = None if site is None else self.sources.file(site.file)
        node = None if site is None or file is None else file.call_at(site)
        return [] if file is None or node is None else self.happens(file.file, node)

    def happens(self, file: str, call: ast.Call) -> list[Event]:
        """A call of a file, each time it happens."""
        found = (_calls_by_node(program).get(id(call), []) for program in self.programs(file))
        events = next((events for events in found if events), [])
        return sorted(events, key=lambda event: not event.loops())  # what a loop does comes first

    def events(self, node: ast.Call) -> list[Event]:
        """Whenever a call of the text happens, in whatever has been evaluated."""
        known = (program for program in self._evaluated.values() if program is not None)
        return [event for program in known for event in _calls_by_node(program).get(id(node), ())]

    def calls(self, site: Site | None) -> list[Call]:
        return [event.call for event in self.at(site) if event.call is not None]

    def values(self, file: str, node: ast.expr) -> list[Value]:
        """What an expression stands for, each time that it is come to."""
        for program in self.programs(file):
            program.entries  # noqa: B018 - evaluates it
            found = (program.machine.seen or {}).get(id(node))
            if found:
                return found
        return []

    def reads(self, file: str, values: Iterable[Value]) -> set[ast.expr]:
        """The expressions that stand for one of some values as it is, wherever they were evaluated."""
        wanted = {id(value) for value in values}
        found: set[ast.expr] = set()
        for program in self.programs(file):
            nodes = {id(node): node for module in program.machine.modules.values() for node in module.nodes}
            for number, seen in (program.machine.seen or {}).items():
                node = nodes.get(number)
                if isinstance(node, ast.expr) and any(id(value) in wanted for value in seen):
                    found.add(node)
        return found

    def bodies(self, function: ast.AST) -> Iterator[Body]:
        """Each time that a function is gone into."""
        for program in self._evaluated.values():
            for part in program.parts if program is not None else ():
                if isinstance(part, Body) and part.node is function:
                    yield part

    def file_of(self, node: ast.AST | None) -> File | None:
        """The file that a node stands in, as `sources` know it."""
        programs = (
            program for program in self._evaluated.values() if program is not None and node is not None
        )
        files = (file for program in programs for file in program.machine.modules.values())
        found = next((file for file in files if node is not None and file.holds(node)), None)
        return found and self.sources.file(found.file)

    def site(self, node: ast.AST | None) -> Site | None:
        """Where a node stands, in whatever file."""
        file = self.file_of(node)
        return (
            site_of(file.file, node) if file is not None and isinstance(node, ast.expr | ast.stmt) else None
        )


class _SharedTrees(Project):
    """Files of the project as the localiser reads them: a node found in a file's text is the node that was evaluated."""

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self._sources = sources

    def parse(self, path: str) -> Parsed | None:
        file = self._sources.file(path)
        return None if file is None else (file.tree, file.text)


def program_of(sources: Sources) -> EvaluatedProgram:
    """The evaluated program of some files; made once."""
    plain = sources.plain
    if not isinstance(plain.evaluated, EvaluatedProgram):
        plain.evaluated = EvaluatedProgram(plain)
    return plain.evaluated


def _calls_by_node(program: Program) -> dict[int, list[Event]]:
    known: dict[int, list[Event]] | None = program.answers.get("calls by node")
    if known is None:
        known = program.answers["calls by node"] = {}
        for event in program.events:
            if event.kind == CALL:
                known.setdefault(id(event.node), []).append(event)
    return known


def likely(value: Value | None, passes: Callable[[Op], bool]) -> Iterator[Value]:
    """What a value may be made from on any path: itself, what a followed call returns, and what operations pass on."""
    waiting = [] if value is None else [value]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        op = operation(current)
        if isinstance(current, Either):
            waiting.extend(reversed(current.options))
        elif isinstance(current, Call) and current.result is not None:
            waiting.append(current.result)
        elif op is not None and passes(op):
            waiting.extend(op.inputs[:1])
