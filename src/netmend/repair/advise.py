"""The edit that goes with each told fault: what its repairs would try first, as a person would write it. Nothing is trained.

What is told is the edit: where the words of a remedy name another value or another line, the edit's own title takes their place.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from netmend.localise.findings import of_source
from netmend.program.text.files import diff
from netmend.program.text.sources import Sources
from netmend.repair.apply import applied, read
from netmend.repair.propose import for_fault, from_findings
from netmend.repair.together import RATES, collide, companions, joined, uncovered
from netmend.vocabulary import Diagnosis, Fault, Trace
from netmend.vocabulary.change import Change, Patch
from netmend.vocabulary.finding import Finding

SECONDS = 0.2  # for all faults together; the first is always looked at
_ONE_MISTAKE = ({"TOK-SHIFT-MISSING", "PRE-WRONG-STEP"},)
_NEAR = 1  # lines between a fault and the finding whose fix is its edit
_NUMBER = re.compile(r"(?<![\w.:])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w%])", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`]+)`")
_LONG = 40  # characters
_LEAD = "Change this as well, as one alone may have no effect: "
_PLACE = re.compile(r"\S+\.py:\d+")
_AT_PLACE = re.compile(r" (?:at|before) (?:`[^`]*` in )?\S+\.py:\d+")  # the edit shows the line


@dataclass(frozen=True)
class _Program:
    """A judged run and the texts that it ran."""

    trace: Trace
    sources: Sources
    findings: tuple[Finding, ...]

    @property
    def root(self) -> Path:
        return Path(self.trace.run.working_directory or ".").resolve()


def with_edits(
    diagnosis: Diagnosis, trace: Trace, findings: Iterable[Finding] = (), seconds: float = SECONDS
) -> Diagnosis:
    """The same diagnosis, each told fault with its edit where one is known."""
    sources = Sources.of(trace)
    program = _Program(trace, sources, tuple(findings))
    begun = time.monotonic()
    faults: list[Fault] = []
    covered: list[Fault] = []
    told: dict[int, Change] = {}  # by the place of the fault
    for fault in diagnosis.faults:
        if fault.cause in RATES and len(trace.optimizers) < 2 and any(map(_lowers_rate_too, faults)):
            covered.append(fault)  # what an earlier edit does already would be taken back, or done twice
            continue
        if faults and time.monotonic() - begun > seconds:
            faults.append(fault)
            continue
        advised = _advised(program, fault, faults, told)
        (covered if advised is None else faults).append(advised or fault)
    if 0 in told:
        faults[0] = _with_companions(program, replace(diagnosis, faults=tuple(faults)), told)
    return replace(diagnosis, faults=tuple(faults), suspects=(*covered, *diagnosis.suspects))


def _with_companions(program: _Program, diagnosis: Diagnosis, told: dict[int, Change]) -> Fault:
    """The first fault with what has to be changed with it; as it is where that cannot be written as one edit."""
    first = diagnosis.faults[0]
    others = [(fault, told[place]) for place, fault in enumerate(diagnosis.faults) if place and place in told]
    whole, more = first, first.remedy
    change = told[0]
    for other in companions(program.trace, program.sources, diagnosis, (first, change), others):
        patch = _patch(program, joined(change, other))
        if patch is None:
            continue
        change, lead = joined(change, other), "" if whole.edit != first.edit else _LEAD
        more = f"{more} {lead}{sentence(other.title)}"
        whole = replace(first, edit=patch, remedy=more)
    return whole


def _lowers_rate_too(fault: Fault) -> bool:
    return fault.cause not in RATES and fault.edit is not None and "; learning rate" in fault.edit.title


def _advised(
    program: _Program, fault: Fault, before: Sequence[Fault], told: dict[int, Change]
) -> Fault | None:
    """The fault with the first edit that can be made; None where all it could tell is told already, or would undo what is told."""
    edited = [other for other in before if other.edit is not None]
    is_taken = False
    for change in _cures(program, fault):
        if any(_is_same(other, fault, change) for other in edited):
            return None
        if any(collide(earlier, change) for earlier in told.values()):
            is_taken = True
            continue
        together, also = change, ""
        if not any(other.cause in RATES for other in before):
            together, also = uncovered(program.trace, program.sources, fault, change)
        patch = _patch(program, together)
        if patch is not None:
            told[len(before)] = together
            is_apt = _agrees(fault.remedy, change.title, patch)
            words = _AT_PLACE.sub("", fault.remedy) if is_apt else sentence(change.title)
            return replace(fault, edit=patch, remedy=f"{words} {also}".strip())
    return None if is_taken else fault


def _is_same(other: Fault, fault: Fault, change: Change) -> bool:
    own = set() if other.edit is None else set(other.edit.edits)
    return other.cause == fault.cause and bool(change.edits) and set(change.edits) <= own


def _cures(program: _Program, fault: Fault) -> list[Change]:
    """What can be done about a fault; one that was read in the source is mended there before any number is tried."""
    proposed = for_fault(program.trace, program.sources, fault, program.trace.run.arguments, [])
    found = [*proposed, *_fixes(program, fault)]
    return sorted(found, key=lambda change: change.effort) if of_source(fault) else found


def _fixes(program: _Program, fault: Fault) -> list[Change]:
    """The fix of `netmend check` at the fault's own line, also by another name for the same mistake."""
    if fault.site is None:
        return []
    file, line = program.sources.path(fault.site.file), fault.site.line
    here = [
        finding
        for finding in program.findings
        if (finding.cause == fault.cause or {finding.cause, fault.cause} in _ONE_MISTAKE)
        and program.sources.path(finding.file) == file
        and finding.line - _NEAR <= line <= max(finding.line, finding.end_line) + _NEAR
    ]
    return list(from_findings(here, program.sources))


def _patch(program: _Program, change: Change) -> Patch | None:
    """None where the edits do not fit the files, or change files that are not the user's or were written since the run began."""
    texts = applied({}, change.edits) if change.edits else {}
    if texts is None or not all(_is_own(program, file) and _as_it_ran(program, file) for file in texts):
        return None
    changed = "".join(
        diff(_relative(program, file), read(file), text) for file, text in sorted(texts.items())
    )
    if change.arguments is None and (
        not changed or all(_means_the_same(read(file), text) for file, text in texts.items())
    ):
        return None
    if not all(_can_be_read(text) for file, text in texts.items() if file.endswith(".py")):
        return None
    return Patch(change.title, change.edits, changed, change.arguments)


def _can_be_read(text: str) -> bool:
    try:
        compile(text, "edited", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _means_the_same(before: str, after: str) -> bool:
    """Whether only spaces, brackets and comments differ."""
    try:
        return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
    except (SyntaxError, ValueError):
        return False


def _is_own(program: _Program, file: str) -> bool:
    path = Path(file).resolve()
    parts = set(path.parts)
    return not parts & {"site-packages", "dist-packages"} and (
        path.is_relative_to(program.root)
        or path.is_relative_to(program.sources.path(program.trace.run.script).resolve().parent)
    )


def _as_it_ran(program: _Program, file: str) -> bool:
    started = program.trace.run.started
    return not started or Path(file).stat().st_mtime <= started


def _relative(program: _Program, file: str) -> str:
    path = Path(file).resolve()
    return str(path.relative_to(program.root)) if path.is_relative_to(program.root) else str(path)


def _agrees(remedy: str, title: str, patch: Patch) -> bool:
    """Whether the words name what is written anew, and every number and name that they give stands in the lines that change."""
    words = _PLACE.sub("", remedy)
    if any(len(quoted) > _LONG for quoted in _QUOTED.findall(words)):
        return False  # a whole statement: the edit shows it
    _, arrow, new = title.partition(" → ")
    if arrow and new.split()[0].rstrip(",;") not in words:
        return False
    shown = [line for line in patch.diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    lines, marks = [line[1:] for line in shown], [line[:1] for line in shown]
    changed = "\n".join([*lines, *(patch.arguments or ())])
    numbers = {float(number) for number in _NUMBER.findall(changed)}
    if any(float(number) not in numbers for number in _NUMBER.findall(words)):
        return False
    names = [re.findall(r"[A-Za-z_]\w*", quoted) for quoted in _QUOTED.findall(words)]
    added = "\n".join(line for line, mark in zip(lines, marks, strict=True) if mark == "+")
    if words.startswith("Remove ") and names and names[0] and all(name in added for name in names[0]):
        return False  # it is still there
    return "netmend explain" not in words and all(name in changed for found in names for name in found)


# Words that a title starts with when it says what to do; the others say what there should be.
_VERBS = """
add assign call change clear clip compute convert create detach divide do draw drop evaluate fill
flatten give go group insert join keep leave let load look lower make measure move multiply name
negate pass prepare put read record register remove replace restore save scale set shift shuffle
standardise start step subtract take train unscale update turn use weight
"""
_WHAT = {"batches of": "batch size", "hidden": "hidden activation"}


def sentence(title: str) -> str:
    """`learning rate 5 → 0.5` → "Try a learning rate of 0.5 instead of 5." """
    parts = [_imperative(part.strip()) for part in title.split("; ")]
    return f"{'; '.join([parts[0], *(part[:1].lower() + part[1:] for part in parts[1:])])}."


def _imperative(title: str) -> str:
    old, arrow, new = title.partition(" → ")
    if title.startswith("learning rate, ") and arrow:
        name, _, value = old.removeprefix("learning rate, ").rpartition(" ")
        return f"Try `{name}={new}` instead of {value}"
    if title.startswith("learning rate ") and arrow:
        return f"Try a learning rate of {new} instead of {old.removeprefix('learning rate ')}"
    if title.endswith(" epochs") and arrow:
        return f"Train for {new} instead of {old}"
    if arrow:
        what, _, value = old.rpartition(" ")
        if not what or not _is_value(value):
            return f"Change {old} to {new}"
        what = _WHAT.get(what, what.removesuffix(" at").removesuffix(":"))
        return f"Change {what if _is_name(what) else f'the {what}'} from {value} to {new}"
    first, _, rest = title.partition(" ")
    if first.istitle():
        return title  # a fix of `netmend check` says what to do already
    if first == "no":
        return f"Remove the {rest}"
    if first == "without":
        return f"Remove {rest}"
    if rest.startswith("as nn."):
        return f"Make {first} an {rest.removeprefix('as ')}"
    if first.endswith((".eval()", ".train()")):
        return f"Call {title}"
    return f"{first[:1].upper()}{title[1:]}" if first in _VERBS.split() else f"Use {title}"


def _is_value(word: str) -> bool:
    return bool(re.fullmatch(r"[-+]?[\d.]+(?:e[-+]?\d+)?|[a-zA-Z]+", word))


def _is_name(words: str) -> bool:
    return any(sign in words for sign in "._()`=") or words[:1].isupper()
