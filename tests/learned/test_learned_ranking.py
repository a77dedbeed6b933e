"""The learned model in the ranking: confidences change with the evidence, a missed cause is raised at a place, silence stays silence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from ranking.combination import HEALTHY
from ranking.explain import reasons
from ranking.model import Model
from ranking.predict import judge
from ranking.weigh import log_odds, weigh

from netmend.diagnose import examine
from netmend.diagnose.examples.curves import flat
from netmend.diagnose.examples.networks import net_run
from netmend.localise.case import Case
from netmend.localise.cause import PRIOR, fault
from netmend.localise.rank import Ranking, diagnose, rank
from netmend.vocabulary import Evidence, Fault, Site, Trace


def accused(code: str, weight: float, line: int = 1) -> Fault:
    return fault(
        code,
        [Evidence("Seen.", weight)],
        component="model",
        site=Site("train.py", line),
        summary="A.",
        reason="B.",
        remedy="C.",
        refutation="D.",
    )


def case(trace: Trace) -> Case:
    return Case(trace, examine(trace)[0])


Make = Callable[..., Model]
STUCK = net_run(losses=flat(200))


def test_an_accused_cause_gets_the_learned_confidence_and_its_evidence_still_adds_up(
    small_model: Make,
) -> None:
    weighed = weigh(case(STUCK), [accused("HYP-LR-HIGH", 1.0)], model=small_model())
    (found,) = weighed.accused
    assert found.confidence > 0.8
    total = PRIOR + sum(item.weight for item in found.evidence)
    assert 1 / (1 + math.exp(-total)) == pytest.approx(found.confidence, abs=0.01)
    assert "90%" in found.evidence[-1].message


def test_a_less_sure_place_of_the_same_cause_stays_less_sure(small_model: Make) -> None:
    weighed = weigh(
        case(STUCK), [accused("HYP-LR-HIGH", 2.0), accused("HYP-LR-HIGH", 1.0, line=9)], model=small_model()
    )
    assert weighed.accused[0].confidence > weighed.accused[1].confidence > 0


def test_a_cause_that_rules_missed_is_raised_with_words_and_a_line(small_model: Make) -> None:
    weighed = weigh(case(STUCK), [], model=small_model())
    (found,) = weighed.accused
    assert found.cause == "HYP-LR-HIGH" and found.confidence >= weighed.least_confidence
    assert found.site == Site("train.py", 15)  # where the optimiser of the example is made
    assert found.reason and found.remedy and found.summary
    assert "Decades of the last loss above the best constant prediction" in found.evidence[0].message
    told, _ = rank(weighed.accused, Ranking(weighed.least_confidence))
    assert [fault.cause for fault in told] == ["HYP-LR-HIGH"]


def test_nothing_is_raised_of_a_run_that_learns_or_below_the_limit(small_model: Make) -> None:
    assert weigh(case(net_run()), [], model=small_model()).accused == ()
    assert weigh(case(STUCK), [], model=small_model(least=0.95)).accused == ()


def test_a_run_that_failed_gets_the_likeliest_cause_however_unsure(small_model: Make) -> None:
    for failed, healthy in (
        (True, 0.0),
        (False, 0.2),
    ):  # by a symptom, or because hardly any run alike was healthy
        weighed = weigh(case(STUCK), [], failed, small_model(least=0.95, healthy=healthy))
        assert [fault.cause for fault in weighed.accused] == ["HYP-LR-HIGH"] and weighed.failed
    assert not weigh(case(STUCK), [], False, small_model(least=0.95, healthy=0.05)).failed


def test_the_kept_model_weighs_what_a_diagnosis_accuses_and_a_diagnosis_knows_nothing_of_it() -> None:
    plain = diagnose(STUCK)
    by_rules = (*plain.faults, *plain.suspects)
    weighed = weigh(case(STUCK), by_rules, failed=True)
    assert not weighed.failures and not plain.failures
    said = [item.message for fault in weighed.accused for item in fault.evidence]
    assert any("learned from recorded runs" in message for message in said)
    assert not any("learned" in item.message for fault in by_rules for item in fault.evidence)


def test_reasons_name_the_features_that_spoke_for_a_cause(small_model: Make) -> None:
    judged = judge(STUCK, (), {}, small_model())
    (only,) = reasons(judged, "HYP-LR-HIGH")
    assert only.feature == "loss_last" and only.moved == pytest.approx(math.log(9))
    assert reasons(judged, "OPT-CLIP") == ()  # the forest knows nothing of it
    assert reasons(replace(judged, row=judged.row - 9), "HYP-LR-HIGH") == ()  # it spoke against
    assert reasons(judged, HEALTHY) == ()


def test_log_odds_take_the_surest_place_of_a_cause() -> None:
    odds = log_odds([accused("HYP-LR-HIGH", 1.0), accused("HYP-LR-HIGH", 2.0, line=2)])
    assert odds["HYP-LR-HIGH"] == pytest.approx(PRIOR + 2.0, abs=0.01)
