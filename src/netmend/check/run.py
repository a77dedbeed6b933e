"""Check one source text: parse, evaluate, ask the rules. Reads no files but those of the project that it imports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from netmend.check.listing import rules as all_rules
from netmend.check.rule import StaticRule
from netmend.check.triggers import concerned, places, triggered
from netmend.program.engine.entries import only_defines
from netmend.program.engine.program import Program
from netmend.program.engine.project import Project, imported_texts
from netmend.vocabulary.finding import Finding


@dataclass(frozen=True)
class Checked:
    """What a file showed."""

    findings: tuple[Finding, ...] = ()
    problem: str = ""  # why it could not be checked: "line 3: invalid syntax"
    reads: tuple[str, ...] = ()  # other files of the project that the findings depend on
    failures: tuple[str, ...] = ()  # rules of ours that failed on it; the others went on


def check_text(
    text: str, file: str = "<stdin>", rules: Sequence[StaticRule] = (), project: Project | None = None
) -> Checked:
    """All findings of the rules (default: those that are on by themselves) in one source text, in order of lines."""
    rules = rules or default_rules()
    project = project or Project()
    try:
        tree = project.tree(file, text)
    except SyntaxError as problem:
        return Checked(problem=f"line {problem.lineno or 1}: {problem.msg}")
    except (ValueError, RecursionError, MemoryError) as problem:
        return Checked(problem=f"{problem or type(problem).__name__}")
    # What makes a program wrong may be spread over its files.
    others = {} if only_defines(tree) else imported_texts(project, file, tree)
    wanted = concerned(rules, text, *others.values())
    if not wanted:
        return Checked(reads=tuple(others))
    program = Program(text, file, tree, project, places(wanted, text))
    findings: list[Finding] = []
    failures = []
    for rule in wanted:
        if program.is_test_code and not rule.in_tests:
            continue
        try:
            findings.extend(filter(None, rule.check(program)))
        except Exception as problem:  # noqa: BLE001 - one broken rule must not cost the others
            failures.append(f"{rule.code} ({type(problem).__name__}: {problem})")
    reads = tuple(dict.fromkeys((*others, *program.reads)))
    program.dispose()
    return Checked(tuple(_in_order(findings)), "", reads, tuple(failures))


@cache
def default_rules(preview: bool = False) -> tuple[StaticRule, ...]:
    return tuple(rule for rule in all_rules().values() if rule.is_on(preview))


def _in_order(findings: Iterable[Finding]) -> list[Finding]:
    unique = {
        (finding.file, finding.line, finding.column, finding.code): finding
        for finding in reversed(list(findings))
    }
    return sorted(
        unique.values(), key=lambda finding: (finding.file, finding.line, finding.column, finding.code)
    )


__all__ = ["Checked", "Project", "check_text", "default_rules", "triggered"]
