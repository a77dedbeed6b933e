"""Every detector and every cause against its own examples and the rules that hold for all."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys

import pytest

from netmend.diagnose.detector import DETECTORS
from netmend.localise import diagnose
from netmend.localise.case import Case
from netmend.localise.cause import CAUSES
from netmend.unit import page
from netmend.vocabulary import LEAVES, Trace

DETECTOR_CLASSES = list(DETECTORS.classes().values())
CAUSE_CLASSES = list(CAUSES.classes().values())
HEALTHY = [(unit, run) for unit in DETECTOR_CLASSES for run in unit.HEALTHY]
FAULTY = [(unit, run) for unit in DETECTOR_CLASSES for run in unit.FAULTY]
ACCUSED = [(unit, run) for unit in CAUSE_CLASSES for run in unit.FAULTY]


def _name(value: object) -> str:
    return getattr(value, "code", "") or getattr(value, "title", "")


@pytest.mark.parametrize(("unit", "run"), HEALTHY, ids=lambda value: f"{_name(value)}")
def test_silent_on_its_healthy_examples(unit, run):
    assert list(unit().examine(run.trace)) == []


@pytest.mark.parametrize(("unit", "run"), FAULTY, ids=lambda value: f"{_name(value)}")
def test_speaks_on_its_faulty_examples(unit, run):
    symptoms = list(unit().examine(run.trace))
    assert symptoms
    assert {symptom.code for symptom in symptoms} == {unit.code}
    assert all(symptom.message.endswith(".") and "\n" not in symptom.message for symptom in symptoms)


@pytest.mark.parametrize("unit", DETECTOR_CLASSES, ids=_name)
def test_nothing_to_say_about_an_empty_trace(unit):
    assert list(unit().examine(Trace())) == []


@pytest.mark.parametrize("unit", DETECTOR_CLASSES + CAUSE_CLASSES, ids=_name)
def test_common_rules(unit):
    assert dataclasses.is_dataclass(unit)
    with pytest.raises(dataclasses.FrozenInstanceError):
        unit().code = "D000"
    first, rest = page(unit)
    assert first.endswith(".") and len(first) < 130 and rest
    for threshold in dataclasses.fields(unit):
        assert threshold.metadata.get("origin"), f"{threshold.name} does not say where it comes from"
    unit()


@pytest.mark.parametrize("unit", DETECTOR_CLASSES, ids=_name)
def test_detectors_have_near_misses_and_measure_what_was_calibrated(unit):
    assert unit.HEALTHY and unit.FAULTY
    calibrated = {f.name for f in dataclasses.fields(unit) if f.metadata["basis"] == "calibrated"}
    if calibrated:
        seen = {name for run in (*unit.FAULTY, *unit.HEALTHY) for name in unit().extremes(run.trace)}
        assert calibrated <= seen


@pytest.mark.parametrize(("unit", "run"), ACCUSED, ids=lambda value: f"{_name(value)}")
def test_causes_are_named_first_on_their_examples(unit, run):
    diagnosis = diagnose(run.trace)
    assert not diagnosis.failures
    assert [fault.cause for fault in diagnosis.faults][:1] == [run.code or unit.code]


@pytest.mark.parametrize("unit", CAUSE_CLASSES, ids=_name)
def test_causes_are_leaves_and_explain_themselves(unit):
    assert unit.code in LEAVES
    assert unit.FAULTY
    assert list(unit().accuse(Case(Trace()))) == []
    for run in unit.FAULTY:
        for fault in diagnose(run.trace).faults:
            doubt = (
                (fault.refutation,) if fault.refutation else ()
            )  # none for a program that cannot run as it is
            for text in (fault.summary, fault.reason, fault.remedy, *doubt):
                assert text and (text[0].isupper() or text[0].isdigit() or text[0] in "`'\"."), text
                assert text.endswith((".", "`")), text


def test_loading_the_units_builds_no_example():
    """Whoever judges a run loads them all; `Run("title", lambda: net_run(...))` costs nothing until it is looked at."""
    code = (
        "from netmend.vocabulary import Trace\n"
        "def refuse(*given, **named): raise AssertionError('an example was built')\n"
        "Trace.__init__ = refuse\n"
        "from netmend.diagnose.detector import DETECTORS\n"
        "from netmend.localise.cause import CAUSES\n"
        "DETECTORS.all(), CAUSES.all()\n"
        "print(*DETECTORS.problems, *CAUSES.problems)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == ""


def test_every_unit_loads():
    assert DETECTORS.problems + CAUSES.problems == []


def test_detectors_import_no_framework():
    for unit in DETECTOR_CLASSES + CAUSE_CLASSES:
        source = inspect.getsource(inspect.getmodule(unit))
        assert "import torch" not in source and "import keras" not in source
