"""What `netmend check` found in the source, as evidence: one more reason for an accused cause, or an accusation of its own.

Checking and running are two depths of one reasoning. What both see is surer; what only the source shows is weighed against how the run went: a
mistake that should keep a program from learning, in a run that learned, is refuted and stays a suspect.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from netmend.check.rule import RULES
from netmend.localise.case import Case
from netmend.localise.cause import CAUSES, FAIR, PRIOR, PROVEN, STRONG, confidence, fault
from netmend.localise.matched_rows import order_of_files, spelling_of_keys
from netmend.localise.outcome import harm, relief
from netmend.localise.refuted import refuted, stopped_at
from netmend.unit import page
from netmend.vocabulary import LEAVES, Advice, Evidence, Fault, Site
from netmend.vocabulary.finding import Finding

# 125 of 136 findings that were read were right (docs/precision.md): log-odds 2.4. That is where a finding alone should stand.
ALONE = 2.4
AGREES = STRONG  # beside what the run shows at the same place
AGREES_ELSEWHERE = FAIR  # the same cause, at another line
UNSEEN = FAIR  # watching looks for this cause and did not see it
# the run measured the very thing and found it in order: whatever ails it, it is not this
REFUTED = 4 * STRONG
_NEAR = 1  # lines
# sentences and halves of them, not within brackets
_BETWEEN = re.compile(r"(?<=[.;])\s+(?=[^)\]]*(?:[(\[]|$))")

_SHORT = 80  # characters of a sentence that alone explains little
_SENTENCE_END = re.compile(r"(?<=[.])\s+(?=[A-Z`])")

# Figures that are certainly another quantity than what they are called: faults, though of a family that is mostly advice.
_WRONG_FIGURES = frozenset(
    {"S601", "S604", "S605", "S612", "S615", "S618", "S953", "S954", "S955", "S957", "S958", "S959"}
)
# Rules whose mistake a training loss cannot show: answers given to the decoder, derivatives that teach nothing, trained weights thrown
# away, a best state that is never taken, a sign with which any loss falls. Neither a low loss nor what was watched speaks against them.
_BEYOND_THE_LOSS = frozenset({"S217", "S218", "S230", "S231", "S236", "S237", "S238", "S239", "S346", "S617"})
# What only the files of a run can show: a sentence, and how much it says.
_SHOWN_BY_FILES = {"S914": order_of_files, "S915": spelling_of_keys}
_PREPARATION = "S9"  # data that are wrong are learned as well as others


def with_findings(case: Case, accused: Iterable[Fault]) -> list[Fault]:
    """Accusations of the run and those of the source, each finding counted once."""
    faults = list(accused)
    for finding in case.findings:
        if finding.cause not in LEAVES or _is_advice(case, finding) or _needs_files(case, finding):
            continue
        index, weight = _told_already(case, finding, faults)
        if index is None:
            faults.append(_of_its_own(case, finding))
        elif weight:
            faults[index] = _surer(faults[index], finding, weight)
    return faults


def advised(case: Case) -> Iterator[Advice]:
    """Findings that are no cause of a bad run, in the words of the rule."""
    for finding in case.findings:
        if _is_advice(case, finding):
            yield Advice(finding.code, finding.message, _site(finding))


def _needs_files(case: Case, finding: Finding) -> bool:
    """Whether only the files of the run could show it, and they do not."""
    return finding.code in _SHOWN_BY_FILES and not _SHOWN_BY_FILES[finding.code](case, finding)[1]


def _is_advice(case: Case, finding: Finding) -> bool:
    leaf = LEAVES.get(finding.cause)
    mere = leaf is not None and leaf.advice and finding.code not in _WRONG_FIGURES
    return mere and not stopped_at(case, finding)


def _told_already(case: Case, finding: Finding, faults: list[Fault]) -> tuple[int | None, float]:
    """The accusation that a finding belongs to, and what it adds; (None, 0) where there is none."""
    best: tuple[int | None, float] = (None, 0.0)
    for index, known in enumerate(faults):
        here = any(_at(case, place, finding) for place in (known.site, *known.related) if place is not None)
        same = known.cause == finding.cause
        if of_source(known) and same and here:
            return index, 0.0  # two rules at one line say one thing
        alike = LEAVES[finding.cause].same_as
        if not same and not (here and alike and alike == LEAVES[known.cause].same_as):
            continue
        weight = AGREES if here else AGREES_ELSEWHERE
        if not of_source(known) and weight > best[1]:
            best = (index, weight)
    return best


def _surer(known: Fault, finding: Finding, weight: float) -> Fault:
    evidence = (
        *known.evidence,
        Evidence(f"The source shows it too ({finding.code}): {finding.message}", weight),
    )
    if any(item.message == evidence[-1].message for item in known.evidence):
        return known
    surer = replace(known, evidence=evidence, confidence=_added(known.confidence, weight))
    if known.cause == finding.cause and LEAVES[known.cause].read_in_source:
        before = () if known.site is None or known.site.line == finding.line else (known.site,)
        return replace(surer, site=_site(finding), related=(*before, *known.related))
    return surer


def _added(sure: float, weight: float) -> float:
    """A confidence with one more reason; causes may have a prior of their own, so the old one is where it starts."""
    sure = min(0.999, max(0.001, sure))
    return round(confidence([Evidence("", weight)], prior=math.log(sure / (1 - sure))), 3)


def _of_its_own(case: Case, finding: Finding) -> Fault:
    evidence = [Evidence(f"The source shows it ({finding.code} of `netmend check`).", ALONE - PRIOR)]
    evidence += _of_the_run(case, finding)
    title = LEAVES[finding.cause].title
    fix = finding.fix.title if finding.fix is not None else ""
    return fault(
        finding.cause,
        evidence,
        component=f"{Path(finding.file).name}:{finding.line}",
        site=_site(finding),
        summary=_sentence(finding.message),
        reason=_why(finding) or f"{title[:1].upper()}{title[1:]}.",
        remedy=f"{_sentence(fix or _instruction(finding.message)).removesuffix('.')} ({Path(finding.file).name}:{finding.line}).",
        refutation="Changing that line does not avoid the error."
        if stopped_at(case, finding)
        else "The score stays what it is once that line is changed."
        if LEAVES[finding.cause].of_evaluation
        else "Changing that line does not improve the run.",
        related=[Site(place.file, place.line) for place in finding.related],
        # What the run shows is not this finding's doing until somebody has tried: nothing else is explained away by it.
        explains=(),
    )


def _why(finding: Finding) -> str:
    """Why it hurts, in the words of the rule's page: what follows the sentence that says what is seen, two sentences where the first is short."""
    rule = RULES.classes().get(finding.code)
    paragraph = page(rule)[1].split("\n\n")[0] if rule is not None else ""
    sentences = _SENTENCE_END.split(" ".join(paragraph.split()))
    return " ".join(sentences[: 2 if len(sentences[0]) < _SHORT else 1])


def _of_the_run(case: Case, finding: Finding) -> list[Evidence]:
    """What the run says of a finding, for and against; what it measured itself outranks the source."""
    if stopped_at(case, finding):
        return [Evidence("The program stopped at this line.", PROVEN)]
    if finding.code in _BEYOND_THE_LOSS:
        return []
    if finding.code in _SHOWN_BY_FILES:
        return [Evidence(*_SHOWN_BY_FILES[finding.code](case, finding))]
    against = refuted(case, finding)
    if against:
        return [Evidence(against, -REFUTED)]
    if finding.code.startswith(_PREPARATION):
        return []
    said = []
    leaf = LEAVES[finding.cause]
    unseen = leaf.of_evaluation and not any(case.trace.tables_of("evaluation"))
    if finding.cause in CAUSES.classes() and not unseen:
        said.append(Evidence("There is no sign of it in the run.", -UNSEEN))
    if not (leaf.beyond_the_loss or leaf.of_evaluation):
        signs = [*harm(case), *relief(case, 2 * STRONG)]
        said += signs or [Evidence("There is no sign in the run that it hurts.", -FAIR)]
    return said


def _instruction(message: str) -> str:
    """What a rule's message says to write instead: its last sentence, or what stands behind the semicolon there."""
    sentences = [part for part in _BETWEEN.split(message.strip()) if part]
    return sentences[-1]


def _site(finding: Finding) -> Site:
    return Site(finding.file, finding.line, finding.column, finding.end_line, finding.end_column)


def _at(case: Case, site: Site, finding: Finding) -> bool:
    if case.sources.path(site.file) != case.sources.path(finding.file):
        return False
    return finding.line - _NEAR <= site.line <= max(finding.line, finding.end_line) + _NEAR


def of_source(known: Fault) -> bool:
    """Whether a fault was read in the source and seen nowhere else."""
    return bool(known.evidence) and known.evidence[0].message.endswith("of `netmend check`)")


def _sentence(text: str) -> str:
    text = text.strip()
    text = text[:1].upper() + text[1:] if text[:1].isalpha() else text
    return text if text.endswith((".", "`")) else f"{text}."
