"""StaticRule: one kind of mistake, looked for in an evaluated program. A rule speaks on a proven path or stays silent."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from netmend.testing.marks import read_marked
from netmend.unit import Family
from netmend.vocabulary.finding import Edit, Finding, Fix, Related

if TYPE_CHECKING:
    from netmend.program.engine.program import Program

NOWHERE = r"(?!)"  # the pattern of rules that read the text alone: for them nothing has to be entered
FAMILIES = {
    "S1": "loop",
    "S2": "loss and head",
    "S3": "model",
    "S4": "optimiser",
    "S5": "data",
    "S6": "evaluation",
    "S7": "interfaces and environment",
    "S8": "Keras",
    "S9": "preparation of data",
}


@dataclass(frozen=True)
class Snippet:
    """An example that is a test and a part of the rule's page."""

    title: str
    source: str
    line: int = 0  # BAD: the line that the finding stands on
    fixed: str | None = None  # BAD: the source after the rule's own fix
    files: Mapping[str, str] = field(default_factory=dict)  # other files of the project, beside it


def mended(title: str, marked: str, line: int = 0) -> Snippet:
    """A BAD example with the rule's own fix marked in it (see `testing/marks.py`); the finding is on the first line that changes."""
    source, fixed, changed = read_marked(marked)
    return Snippet(title, source, line or changed, fixed)


Findings = Iterator[Finding | None]


class StaticRule:
    """`class EvalModeMissing(StaticRule, code="S113", cause="LOOP-MODE-EVAL"):` is a rule of `netmend check`.

    The docstring is its page: first line what is seen; then why it hurts; then what to do.

    `advisory` rules are off until selected: worth a thought, no mistake by themselves.
    `preview` rules are off until `--preview` too: no program outside their own examples has shown them right yet.
    `in_tests=False`: files of tests are not shown to the rule, as what is odd there is mostly meant.
    `triggers` are pieces of text; a file that has none of them is not shown to the rule.
    """

    code: ClassVar[str]
    cause: ClassVar[str]  # a leaf of the taxonomy
    advisory: ClassVar[bool]
    preview: ClassVar[bool]
    in_tests: ClassVar[bool]
    message: ClassVar[str]
    triggers: ClassVar[tuple[str, ...]]
    needs: ClassVar[str] = ""  # a text that must be there besides a trigger
    # Regular expressions: where functions that nobody calls are entered, instead of at every trigger.
    patterns: ClassVar[tuple[str, ...]] = ()
    GOOD: ClassVar[tuple[Snippet, ...]]
    BAD: ClassVar[tuple[Snippet, ...]]

    def __init_subclass__(
        cls,
        code: str = "",
        cause: str = "",
        advisory: bool = False,
        preview: bool = False,
        in_tests: bool = True,
    ) -> None:
        cls.code, cls.cause = code, cause
        cls.advisory, cls.preview, cls.in_tests = advisory, preview, in_tests
        if code:
            RULES.register(cls)

    def is_on(self, preview: bool) -> bool:
        """Without being selected."""
        return not self.advisory and (preview or not self.preview)

    def check(self, program: Program) -> Findings:
        raise NotImplementedError

    def finding(
        self,
        program: Program,
        node: ast.AST | None,
        message: str | None = None,
        *,
        cause: str | None = None,
        fix: Fix | None = None,
        see: Iterable[tuple[str, ast.AST]] = (),
    ) -> Finding | None:
        """A finding at a syntax node, of this file or of a project file that was followed; one at each node is told.

        Where there is no node there is no finding, and a fix without edits is none. `see` are other places to look at, each with the words for it.
        """
        if node is None:
            return None
        place = program.place(node)
        others = ((words, program.place(other)) for words, other in see)
        return Finding(
            self.code,
            cause or self.cause,
            message or self.message,
            place.file,
            place.line,
            place.column,
            place.end_line,
            place.end_column,
            fix if fix is not None and fix.edits else None,
            tuple(Related(words, other.file, other.line, other.column) for words, other in others),
        )

    def edit(self, program: Program, node: ast.AST, text: str) -> Edit:
        """Replace a node's text."""
        place = program.place(node)
        return Edit(place.line, place.column, place.end_line, place.end_column, text)


RULES: Family[StaticRule] = Family("netmend.check.rules")


class KerasRule(StaticRule):
    """Looks at Keras only."""

    needs = "keras"
