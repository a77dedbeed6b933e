"""Ranking: the surest cause first, what it explains is not told again, and silence when nothing is sure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from netmend.diagnose.examples.curves import falling, flat, run_with
from netmend.localise import diagnose
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, confidence, fault
from netmend.localise.rank import Ranking, rank, residual
from netmend.vocabulary import Evidence, Fault, Site, Trace


def accused(
    code: str, weight: float, symptom: str = "", explains: tuple[str, ...] = (), line: int = 1
) -> Fault:
    return fault(
        code,
        [Evidence("Seen.", weight, symptom)],
        component="",
        site=Site("train.py", line),
        summary="A.",
        reason="B.",
        remedy="C.",
        refutation="D.",
        explains=explains,
    )


def test_the_surest_comes_first_and_the_unsure_are_kept_back() -> None:
    told, kept = rank(
        [
            accused("HYP-LR-LOW", FAIR, "D102"),
            accused("OPT-CLIP", STRONG, "D211"),
            accused("OPT-PARAMS", PROVEN, "D213"),
        ],
        Ranking(),
    )
    assert [fault.cause for fault in told] == ["OPT-PARAMS", "OPT-CLIP"]
    assert [fault.cause for fault in kept] == ["HYP-LR-LOW"]


def test_what_a_stronger_cause_explains_does_not_count_for_a_weaker_one() -> None:
    told, kept = rank(
        [
            accused("HYP-LR-HIGH", STRONG, "D502"),
            accused("LOOP-ZERO-GRAD", PROVEN, "D201", explains=("D502",)),
            accused("API-SHUFFLE-POS", STRONG, "D308"),
        ],
        Ranking(),
    )
    assert [fault.cause for fault in told] == ["LOOP-ZERO-GRAD", "API-SHUFFLE-POS"]
    assert [fault.cause for fault in kept] == ["HYP-LR-HIGH"]


def test_one_cause_at_one_place_is_told_once() -> None:
    told, _ = rank([accused("OPT-CLIP", STRONG, "D211"), accused("OPT-CLIP", PROVEN, "D211")], Ranking())
    assert len(told) == 1 and told[0].confidence > 0.9


@pytest.mark.parametrize(
    ("weights", "low", "high"), [((), 0.1, 0.3), ((STRONG,), 0.5, 0.7), ((PROVEN,), 0.94, 0.99)]
)
def test_confidence_follows_from_the_evidence(weights: tuple[float, ...], low: float, high: float) -> None:
    assert low < confidence(Evidence("", weight) for weight in weights) < high


def test_confidence_is_never_complete() -> None:
    assert confidence([Evidence("", 100.0)]) <= 0.99
    assert confidence([Evidence("", -100.0)]) >= 0.0


def test_a_run_that_plainly_failed_is_told_about_even_without_a_sure_cause() -> None:
    diagnosis = diagnose(run_with(flat(300)))
    assert diagnosis.verdict == "faulty" and len(diagnosis.faults) == 1
    assert any(symptom.code == "D501" for symptom in diagnosis.symptoms)


def test_a_healthy_run_and_an_empty_one() -> None:
    assert diagnose(run_with(falling(300))).verdict == "healthy"
    assert diagnose(Trace()).verdict == "undecided"


def test_a_cause_that_fails_takes_no_other_down() -> None:
    @dataclass(frozen=True)
    class Broken:
        code = "HYP-LR-LOW"
        FAULTY = ()

        def accuse(self, case: Case) -> Iterator[Fault]:
            raise ValueError("no")
            yield

    @dataclass(frozen=True)
    class Sound:
        code = "OPT-CLIP"
        FAULTY = ()

        def accuse(self, case: Case) -> Iterator[Fault]:
            yield accused("OPT-CLIP", PROVEN)

    diagnosis = diagnose(run_with(falling(50)), [Broken(), Sound()])
    assert [fault.cause for fault in diagnosis.faults] == ["OPT-CLIP"]
    assert diagnosis.failures == ("HYP-LR-LOW (ValueError: no)",)


def reasons(code: str, *given: tuple[float, str]) -> Fault:
    made = accused(code, 0.0)
    evidence = tuple(Evidence("Seen.", weight, symptom) for weight, symptom in given)
    return replace(made, evidence=evidence, confidence=confidence(evidence), explains=frozenset())


def test_reasons_are_explained_away_not_faults() -> None:
    stronger = accused("ACT-HID-WRONG", PROVEN, "D106", explains=("D102", "D501"))
    borne = reasons("HYP-LR-LOW", (STRONG + FAIR, "D102"), (FAIR, "D501"))
    with_fact = reasons("HYP-LR-LOW", (STRONG, "D102"), (STRONG, "D125"))
    hardly = reasons("HYP-LR-LOW", (STRONG + FAIR, "D102"), (0.1, "D125"))
    told = [
        [fault.cause for fault in rank([stronger, other], Ranking())[0]]
        for other in (borne, with_fact, hardly)
    ]
    assert told == [["ACT-HID-WRONG"], ["ACT-HID-WRONG", "HYP-LR-LOW"], ["ACT-HID-WRONG"]]


def test_what_speaks_against_a_reason_goes_with_it() -> None:
    fault = reasons("HYP-LR-LOW", (STRONG + FAIR, "D102"), (STRONG, "D125"), (-STRONG, "D111"))
    assert residual(fault, {"D102"}) == pytest.approx(confidence([Evidence("", STRONG)]), abs=0.01)


def test_what_only_flatters_figures_is_told_last() -> None:
    told, _ = rank([accused("VAL-TEST-LEAK", PROVEN), accused("ACT-OUT-WRONG", STRONG, line=2)], Ranking())
    assert [fault.cause for fault in told] == ["ACT-OUT-WRONG", "VAL-TEST-LEAK"]
    told, _ = rank([accused("VAL-SPLIT", PROVEN), accused("ACT-OUT-WRONG", STRONG, line=2)], Ranking())
    assert [fault.cause for fault in told] == ["VAL-SPLIT", "ACT-OUT-WRONG"]
