"""How a run ended, as reasons: for a cause when training plainly suffered, against it when the loss came down all the same."""

from __future__ import annotations

from collections.abc import Mapping

from netmend.diagnose.measures.acting import acts, improved, returns, training_world
from netmend.diagnose.measures.motion import motions
from netmend.diagnose.measures.objective import left, objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, for_symptom
from netmend.vocabulary import Evidence

_HARM = {
    "D501": FAIR,
    "D502": FAIR,
    "D503": WEAK,
    "D504": WEAK,
    "D508": WEAK,
    "D109": WEAK,
    "D412": WEAK,
    "D726": STRONG,
}
LEARNED = 0.2  # of the constant prediction's loss: most of what can be learned was
POOR = 0.4
RISEN = 0.5  # rise of the return in standard deviations from which on an agent has got better


def level(case: Case) -> float | None:
    """The loss at the end, relative to the best constant prediction, or to its start where that is not known.

    Unknown for a program that acts: its loss falls as its own targets do, whatever becomes of its returns.
    """
    course = None if acts(case.trace) else objective(case.trace)
    if course is None or (course.last_relative is None and len(motions(case.trace)) > 1):
        return None  # optimisers that pull against each other: a loss that does not fall says nothing
    return course.last_relative if course.last_relative is not None else 1.0 - course.fell


def harm(case: Case, weight: float = 1.0) -> list[Evidence]:
    """Signs that training suffered, each kind once."""
    seen: set[str] = set()
    found = []
    for symptom in case.of(*_HARM):
        if symptom.code not in seen:
            seen.add(symptom.code)
            found.append(for_symptom(symptom, weight * _HARM[symptom.code]))
    reached = level(case)
    if not found and reached is not None and reached > POOR:
        text = f"The loss ended at {reached:.2f} of that of the best constant prediction."
        found.append(Evidence(text, weight * WEAK))
    return found


def relief(case: Case, weight: float = STRONG) -> list[Evidence]:
    """The reason against: it learned."""
    world = training_world(case.trace)
    if world is not None and improved(returns(case.trace, world)) > RISEN:
        return [Evidence("The return rose anyway.", -weight)]
    reached = level(case)
    if reached is None or reached > LEARNED or case.has("D502", "D503", "D110"):
        return []
    return [Evidence("The loss still reached a low level.", -weight)]


def learns_anyway(case: Case, below: float, weight: float) -> list[Evidence]:
    """The reason against, for what would keep a program from getting that far."""
    share = left(case.trace)
    return (
        []
        if share is None or share >= below
        else [Evidence(f"The program learns anyway ({share:.2f}).", -weight)]
    )


def signs(case: Case, weight: float, *codes: str) -> list[Evidence]:
    """Other symptoms as reasons, the first one of each kind."""
    return [for_symptom(found, weight) for code in codes if (found := case.first(code)) is not None]


def rivals(case: Case, known: Mapping[str, str], weight: float = STRONG) -> list[Evidence]:
    """Reasons against: symptoms that point to another cause of the same trouble, with what they say."""
    return [Evidence(text, -weight, code) for code, text in known.items() if case.has(code)]


def hardly_trained(case: Case) -> bool:
    """Whether steps were so few (D512) or a rate so low (D125) that a loss which stays high says nothing about the data."""
    return case.has("D512") or any(s.detail.get("direction") == "low" for s in case.of("D125"))
