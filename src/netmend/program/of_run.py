"""The program of a run as one model: evaluated once, with everything in it, and asked by the lines of a trace.

A rule wants proof: every path has to say it (`all_origins`). A line to show, or a place to mend, is the best that can be told:
`likely` takes any path, and where nothing was evaluated there is still the text (`program.text`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from weakref import WeakKeyDictionary

from netmend.program.engine.history import CALL, Event
from netmend.program.engine.program import Program
from netmend.program.engine.project import Project
from netmend.program.engine.trees import Parsed
from netmend.program.engine.values import Call, Either, Value
from netmend.program.meaning.operations import Op, operation
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
            self._evaluated[path] = parsed and Program(parsed.text, path, parsed.tree, self._project)
        return self._evaluated[path]

    @cached_property
    def _events(self) -> dict[int, dict[int, list[Event]]]:
        return {}

    def events(self, file: str, node: ast.AST | None) -> list[Event]:
        """Whenever a call happens: as the script comes to it, else as its own file is read alone."""
        for start in dict.fromkeys((self.sources.script, file)):
            program = self.of(start) if start and node is not None else None
            if program is not None and (found := _calls_by_node(program).get(id(node), [])):
                return found
        return []

    def calls(self, site: Site | None) -> list[Call]:
        """What the call at a site stands for, each time it happens."""
        file = None if site is None else self.sources.file(site.file)
        if site is None or file is None:
            return []
        events = self.events(file.file, file.call_at(site))
        return [event.call for event in events if event.call is not None]

    def site(self, node: ast.AST | None) -> Site | None:
        """Where a node stands, in whatever file."""
        programs = (program for program in self._evaluated.values() if program is not None)
        if not isinstance(node, ast.expr | ast.stmt):
            return None
        for module in (module for program in programs for module in program.machine.modules.values()):
            if module.holds(node):
                return site_of(module.file, node)
        return None


class _SharedTrees(Project):
    """Files of the project as the localiser reads them: a node found in a file's text is the node that was evaluated."""

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self._sources = sources

    def parse(self, path: str) -> Parsed | None:
        file = self._sources.file(path)
        return None if file is None else (file.tree, file.text)


_PROGRAMS: WeakKeyDictionary[Sources, EvaluatedProgram] = WeakKeyDictionary()


def program_of(sources: Sources) -> EvaluatedProgram:
    """The evaluated program of some files; made once."""
    if sources not in _PROGRAMS:
        _PROGRAMS[sources] = EvaluatedProgram(sources)
    return _PROGRAMS[sources]


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
