"""Mend a text by the fixes of its findings, check it again, and take back what did not help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from netmend.check.patch import Patched, patched
from netmend.program.text.files import diff, write
from netmend.program.text.positions import lines_of
from netmend.vocabulary.finding import SAFE, Finding

__all__ = ["Result", "applicable", "apply", "diff", "fixed_point", "write"]

ROUNDS = 20  # convention: few fixes wait for one another; the limit is for rules that never come to rest
BOM = "\ufeff"


@dataclass(frozen=True)
class Result:
    """Where mending came to rest."""

    text: str
    fixed: tuple[Finding, ...] = ()  # as they were found, in the text of their round
    remaining: tuple[Finding, ...] = ()  # what the mended text still shows
    undone: tuple[Finding, ...] = ()  # their fixes did not help or did harm


def applicable(finding: Finding, unsafe: bool) -> bool:
    """Whether the finding has a fix that may be made: safe ones always, others when asked for."""
    fix = finding.fix
    return fix is not None and bool(fix.edits) and (unsafe or fix.applicability == SAFE)


def apply(text: str, findings: Iterable[Finding], unsafe: bool) -> tuple[str, tuple[Finding, ...]]:
    """One pass: the fixes that do not touch one another, first in the text first. The others wait for the next pass."""
    mark, text = _without_mark(text)
    attempt = patched(text, [finding for finding in findings if applicable(finding, unsafe)])
    return mark + attempt.text, attempt.fixed


def fixed_point(text: str, check: Callable[[str], Sequence[Finding]], unsafe: bool = False) -> Result:
    """Check and mend until nothing more can be mended. `check` is given texts without a byte order mark.

    A fix is taken back when its finding shows again, there or elsewhere: such a fix does not help. That another rule sees
    more afterwards is no reason: with `step()` called at last, it can be told that nothing clears the gradients.
    """
    mark, text = _without_mark(text)
    mending = _Mending(text, check, tuple(check(text)), unsafe)
    for _ in range(ROUNDS):
        if not mending.advance():
            break
    return Result(mark + mending.text, tuple(mending.fixed), mending.findings, tuple(mending.undone))


@dataclass
class _Mending:
    """A text on its way to the fixed point."""

    text: str
    check: Callable[[str], Sequence[Finding]]
    findings: tuple[Finding, ...]
    unsafe: bool
    fixed: list[Finding] = field(default_factory=list)
    undone: list[Finding] = field(default_factory=list)
    refused: set[tuple[str, ...]] = field(default_factory=set)

    def advance(self) -> bool:
        """One round; False when the text is as good as the fixes make it."""
        wanted = [
            finding
            for finding in self.findings
            if applicable(finding, self.unsafe) and self._name(finding) not in self.refused
        ]
        attempt = patched(self.text, wanted)
        if not attempt.fixed:
            return False
        if self._accept(attempt):
            return True
        # One of them spoils it: look at each alone, then take the good ones together, or at least the first.
        good = [finding for finding in attempt.fixed if self._helps(finding)]
        together = patched(self.text, good)
        if together.fixed and not self._accept(together):
            self._accept(patched(self.text, good[:1]))
        return True

    def _helps(self, finding: Finding) -> bool:
        attempt = patched(self.text, [finding])
        if self._is_sound(attempt, self.check(attempt.text)):
            return True
        self.refused.add(self._name(finding))
        self.undone.append(finding)
        return False

    def _accept(self, attempt: Patched) -> bool:
        after = tuple(self.check(attempt.text))
        if not self._is_sound(attempt, after):
            return False
        self.text, self.findings = attempt.text, after
        self.fixed.extend(attempt.fixed)
        return True

    def _is_sound(self, attempt: Patched, after: Iterable[Finding]) -> bool:
        """Whether no rule whose findings were mended finds anything that it had not found before."""
        old, new = lines_of(self.text), lines_of(attempt.text)
        mended = set(attempt.fixed)
        codes = {finding.code for finding in mended}
        expected: dict[str, list[tuple[int, int]]] = {}
        for finding in self.findings:
            if finding not in mended:
                places = expected.setdefault(finding.code, [])
                places.append(attempt.moved(old.offset(finding.line, finding.column) or 0))
        for finding in after:
            offset = new.offset(finding.line, finding.column) or 0
            places = expected.get(finding.code, [])
            match = next((place for place in places if place[0] <= offset <= place[1]), None)
            if match is not None:
                places.remove(match)
            elif finding.code in codes:
                return False
        return True

    def _name(self, finding: Finding) -> tuple[str, ...]:
        """What a finding is known by after lines have moved."""
        title = finding.fix.title if finding.fix is not None else ""
        return finding.code, finding.message, title, lines_of(self.text).content(finding.line).strip()


def _without_mark(text: str) -> tuple[str, str]:
    return (BOM, text[1:]) if text.startswith(BOM) else ("", text)
