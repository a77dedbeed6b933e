"""Verdicts of runs that crashed, died or ended at the constant prediction; and what is told beyond the exception's message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netmend.diagnose.detectors.hidden_units import NetworkDied
from netmend.diagnose.examples.curves import falling, flat, run_with
from netmend.localise import diagnose
from netmend.report.run.formats import as_github, as_sarif
from netmend.vocabulary import Diagnosis, Site, TargetFact, Trace
from netmend.vocabulary.crash import CrashFact, GivenFact


def crashed(exception: str, fact: CrashFact | None = None, folder: str = "") -> Trace:
    trace = run_with(falling(40))
    run = replace(
        trace.run,
        status="failed",
        exception=exception,
        exception_site=Site("train.py", 2),
        working_directory=folder,
    )
    facts = {**trace.facts, "run": {run.name: run}}
    if fact is not None:
        facts["crash"] = {"crash": fact}
    return replace(trace, facts=facts)


def notes(trace: Trace) -> str:
    crash = diagnose(trace).crash
    assert crash is not None
    return " ".join(crash.notes)


def test_a_crash_is_never_healthy() -> None:
    judged = diagnose(crashed("FileNotFoundError: [Errno 2] No such file or directory: 'x'"))
    assert judged.verdict == "crashed"
    assert judged.headline == "crashed at train.py:2"
    assert judged.reason.startswith("FileNotFoundError")
    assert judged.crash is not None
    assert judged.crash.step == 40


def test_a_program_that_leaves_with_a_code_has_not_crashed() -> None:
    judged = diagnose(crashed("SystemExit: 2"))
    assert (judged.verdict, judged.crash, judged.headline) == ("healthy", None, "")
    assert judged.reason == "No fault found"


def test_with_a_fault_the_verdict_stays_faulty_and_the_crash_is_told() -> None:
    judged = diagnose(crashed("RuntimeError: grad can be implicitly created only for scalar outputs"))
    assert judged.verdict == "faulty"
    assert judged.crash is not None
    assert judged.headline == "crashed at train.py:2"


def test_machines_read_of_the_crash() -> None:
    trace = crashed("ValueError: something")
    assert "::error file=train.py,line=2" in as_github(trace, diagnose(trace))
    assert "D701" in as_sarif(trace, diagnose(trace))


def test_labels_outside_of_the_classes() -> None:
    fact = CrashFact(
        loss="cross_entropy",
        prediction=GivenFact((8, 3), "float32", "cpu", -1.0, 1.0),
        target=GivenFact((8,), "int64", "cpu", 0.0, 7.0),
    )
    trace = crashed("IndexError: Target 7 is out of bounds.", fact)
    (loss,) = trace.losses
    target = TargetFact(loss.name, 80, {"0": 30, "1": 25, "2": 25})
    trace = replace(trace, facts={**trace.facts, "target": {loss.name: target}})
    assert "Labels go from 0 to 7, but there are scores for 3 classes (0 to 2)." in notes(trace)
    assert "All labels before were between 0 to 2." in notes(trace)


def test_devices_and_types_that_do_not_meet() -> None:
    given = GivenFact((8, 4), "float64", "cuda")
    fact = CrashFact(module="net.0", kind="Linear", given=(given,), dtype="float32", device="cpu")
    assert "on cpu, its input is on cuda" in notes(crashed("RuntimeError: x", fact))
    fact = replace(fact, device="cuda")
    assert "are float32, its input is float64" in notes(crashed("RuntimeError: x", fact))


def test_a_last_small_batch() -> None:
    fact = CrashFact(
        step=9, batch=(GivenFact((1, 4)),), first_batch=((32, 4),), module="net.bn", kind="BatchNorm1d"
    )
    assert "has only 1 samples" not in notes(crashed("ValueError: x", fact))
    assert "The batch of step 9 holds 1 sample; the first held 32." in notes(crashed("ValueError: x", fact))


@pytest.mark.parametrize(
    ("line", "exception", "edited"),
    [
        (
            "print(loss.data[0])",
            "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()`",
            "print(loss.item())",
        ),
        (
            "total += losses[1].data[0]",
            "IndexError: invalid index of a 0-dim tensor.",
            "total += losses[1].item()",
        ),
        (
            "state = torch.load(path)",
            "UnpicklingError: Weights only load failed. This file can still be loaded",
            "state = torch.load(path, weights_only=False)",
        ),
        (
            "x = x.astype(np.float)",
            "AttributeError: module 'numpy' has no attribute 'float'.",
            "x = x.astype(float)",
        ),
        (
            "images, labels = dataiter.next()",
            "AttributeError: '_SingleProcessDataLoaderIter' object has no attribute 'next'",
            "images, labels = next(dataiter)",
        ),
        (
            "loss = (1 - mask).sum()",
            "RuntimeError: Subtraction, the `-` operator, with a bool tensor is not supported.",
            "loss = (~mask).sum()",
        ),
    ],
)
def test_old_code_is_told_with_the_edit(tmp_path: Path, line: str, exception: str, edited: str) -> None:
    (tmp_path / "train.py").write_text(f"import torch\n{line}\n")
    (fault,) = diagnose(crashed(exception, folder=str(tmp_path))).faults
    assert fault.cause == "API-DEPRECATED"
    assert f"`{edited}`" in fault.remedy


def judged_at(level: float, **details: object) -> Diagnosis:
    return diagnose(run_with(flat(60, level), **details))  # type: ignore[arg-type]


def test_the_constant_answer_is_not_healthy() -> None:
    judged = judged_at(1.0)
    assert judged.verdict == "undecided"
    assert "constant prediction" in judged.reason
    assert judged_at(0.6).verdict == "healthy"
    assert judged_at(1.0, metrics=[0.95] * 60).verdict in ("healthy", "undecided")


def test_a_dead_network_is_the_headline() -> None:
    for example in NetworkDied.FAULTY:
        judged = diagnose(example.trace)
        assert judged.headline.startswith("the network ")
        assert "exactly zero" in judged.story[0]
        assert "HYP-EPOCH-FEW" not in {fault.cause for fault in judged.faults}
