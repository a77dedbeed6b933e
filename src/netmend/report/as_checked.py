"""What was checked, on the terminal: `netmend show --checked`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.diagnose.checked import FAILED, NOT_APPLICABLE, PASSED, SPOKE, TOO_SHORT, Check, by_outcome
from netmend.report.content import Remark, clean
from netmend.report.numbers import alike, plural, share, sure
from netmend.report.terminal import STYLES, Remarks, blank
from netmend.vocabulary import Diagnosis

_TONES = {SPOKE: "bad", FAILED: "warn", PASSED: "good", TOO_SHORT: "muted", NOT_APPLICABLE: "muted"}

_HEADS = {PASSED: "  problems that were looked for and not found"}


def checked_text(found: Iterable[Check], diagnosis: Diagnosis) -> RenderableType:
    """Counts first, then every check by outcome, then the causes that were weighed."""
    groups = by_outcome(found)
    counts = ", ".join(f"{len(group)} {outcome}" for outcome, group in groups.items())
    total = plural(sum(map(len, groups.values())), "check")
    parts: list[RenderableType] = [Text("netmend  ", "bold").append(f"{total}: {counts}", "bold")]
    for outcome, group in groups.items():
        parts += [blank(), Text(outcome, STYLES[_TONES[outcome]]).append(_HEADS.get(outcome, ""), "dim")]
        parts.append(Remarks([Remark(check.code, _words(check)) for check in group], indent=2))
    if causes := tuple(_causes(diagnosis)):
        parts += [blank(), Text("causes", "bold"), Remarks(causes, indent=2)]
    parts += [blank(), Text("netmend explain CODE says what a check looks for.", "dim")]
    return Group(*parts)


def _words(check: Check) -> str:
    if check.outcome == SPOKE:
        return alike(clean(check.why))
    return alike(clean(f"{check.title}{f': {check.why}' if check.why else ''}"))


def _causes(diagnosis: Diagnosis) -> Iterator[Remark]:
    for fault in diagnosis.faults:
        yield Remark("reported", clean(f"{fault.title} ({fault.cause}, {sure(fault.confidence)})"))
    for fault in diagnosis.suspects:
        words = f"{fault.title} ({fault.cause}, {share(fault.confidence)})"
        yield Remark("ruled out", clean(words), tone="muted")
