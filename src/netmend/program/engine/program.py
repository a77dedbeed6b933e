"""A source file as a program: what it would do, entry by entry, and the questions rules ask about it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any, TypeVar

from netmend.program.engine.definitions import make_class
from netmend.program.engine.entries import Entry, evaluate_entries, top_level_classes
from netmend.program.engine.history import CallEvent, Event, Loop, Part, StoreEvent
from netmend.program.engine.machine import Machine
from netmend.program.engine.names import aliases, references
from netmend.program.engine.project import Project
from netmend.program.engine.scope import ModuleFile
from netmend.program.engine.values import Class, Instance
from netmend.program.text.file import Place


class Program:
    """One file, evaluated on demand; files of the project that it imports are followed."""

    def __init__(
        self,
        text: str,
        file: str,
        tree: ast.Module,
        project: Project | None = None,
        interest: Sequence[int] | None = None,
    ) -> None:
        self.text = text
        self.file = file
        self.tree = tree
        self.interest = interest  # places in the text; functions without any are not entered on their own
        self.module = ModuleFile(file, text, tree)
        self.machine = Machine(project or Project(), self.module)
        self.answers: dict[object, Any] = {}  # to questions that are asked `once`

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The file's top level, then every function and method that nothing before had entered."""
        return tuple(evaluate_entries(self.machine, self.interest))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for entry in self.entries for event in entry.block.events())

    @cached_property
    def calls(self) -> tuple[CallEvent, ...]:
        """Every call that happens, in order."""
        return tuple(event for event in self.events if isinstance(event, CallEvent))

    @cached_property
    def stores(self) -> tuple[StoreEvent, ...]:
        """Everything that is stored, in order."""
        return tuple(event for event in self.events if isinstance(event, StoreEvent))

    @cached_property
    def _by_name(self) -> dict[str, list[CallEvent]]:
        found: dict[str, list[CallEvent]] = {}
        for event in self.calls:
            found.setdefault(event.call.qualified or f".{event.call.method}", []).append(event)
        return found

    def calls_of(self, *qualified: str) -> list[CallEvent]:
        """Calls of library functions or classes, by qualified name."""
        return [event for name in qualified for event in self._by_name.get(name, ())]

    def methods_of(self, *names: str) -> list[CallEvent]:
        """Calls of methods of anything that was not followed: `backward`, `step`."""
        return [event for name in names for event in self._by_name.get(f".{name}", ())]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return tuple(part for entry in self.entries for part in entry.block.parts())

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(part for part in self.parts if isinstance(part, Loop))

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """Classes of this file, in order."""
        self.entries  # noqa: B018 - makes those inside functions
        for node in top_level_classes(self.tree):
            make_class(self.machine, node, self.module.scope)
        own = [cls for cls in self.machine.classes.values() if cls.module is self.module]
        return tuple(sorted(own, key=lambda cls: cls.definition.lineno))

    def instances_of(self, cls: Class) -> list[Instance]:
        self.entries  # noqa: B018 - makes them
        return self.machine.made.get(id(cls.definition), [])

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the file."""
        return self.module.nodes

    @property
    def is_test_code(self) -> bool:
        """By the usual names of files and folders. What is odd in a test is mostly meant: toy models, wrong arguments on purpose."""
        path = PurePath(self.file)
        is_named = path.stem.startswith("test_") or path.stem.endswith("_test") or path.stem == "conftest"
        return is_named or any(folder in ("tests", "test", "testing") for folder in path.parts[:-1])

    @cached_property
    def aliases(self) -> dict[str, str]:
        """What imported names stand for."""
        return aliases(self.nodes)

    @cached_property
    def references(self) -> tuple[tuple[ast.AST, str], ...]:
        """Every name or dotted name of a library in the text, with its qualified name, without evaluating anything."""
        return tuple(references(self.nodes, self.aliases))

    def entry_of(self, event: Event | Part) -> Entry:
        block = event.block
        while block.parent is not None:
            block = block.parent.block
        return next(entry for entry in self.entries if entry.block is block)

    @property
    def reads(self) -> tuple[str, ...]:
        """Other files that what was found depends on; also those that would be read if they existed."""
        followed = [path for path in self.machine.modules if path != self.file]
        return (*followed, *sorted(self.machine.project.missed.get(self.file, ())))

    def dispose(self) -> None:
        """Nothing may be asked afterwards."""
        self.answers.clear()
        self.machine.dispose()
        self.__dict__.clear()

    def module_of(self, node: ast.AST) -> ModuleFile:
        for module in self.machine.modules.values():
            if module.holds(node):
                return module
        return self.module

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.module_of(node).parent(node)

    def function(self, node: ast.AST) -> ast.AST | None:
        """The function that a node is written in; None at the top level."""
        return self.module_of(node).function(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        return self.module_of(node).parents(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node stands in."""
        found = self.module_of(node).statement(node)
        assert found is not None
        return found

    def source(self, node: ast.AST) -> str:
        """The text of a node."""
        return self.module_of(node).source(node)

    def place(self, node: ast.AST) -> Place:
        return self.module_of(node).place(node)


Answer = TypeVar("Answer")


def once(work: Callable[[Program], Answer]) -> Callable[[Program], Answer]:
    """A question about a program that several rules ask: its answer is kept as long as the program is."""

    def answer(program: Program) -> Answer:
        if work not in program.answers:
            program.answers[work] = work(program)
        kept: Answer = program.answers[work]
        return kept

    answer.__doc__ = work.__doc__
    return answer
