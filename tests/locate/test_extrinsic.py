"""Outer causes: evidence of each kind, silence where the project itself changed, and checks on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.environment.check import Checked
from netmend.environment.facts import Environment, Problem
from netmend.locate.bug_report import read_report
from netmend.locate.extrinsic import check_here, extrinsic_of
from netmend.locate.extrinsic_evidence import (
    ALL_KINDS,
    evidence_in,
    own_names,
    package_of,
    plain_name,
    speaks_of_own_change,
)
from netmend.locate.words import spoken

TRACE = (
    'Traceback (most recent call last):\n  File "/v/lib/python3.8/site-packages/mypkg/a.py", line 3, in f\n    g()\n'
    "  File \"/v/lib/python3.8/site-packages/transformers/b.py\", line 9, in g\n    c.return_dict\nAttributeError: 'Config' object has no attribute 'return_dict'\n"
)


def kinds(text: str, title: str = "t", own: tuple[str, ...] = ("mypkg",)) -> set[str]:
    return {one.kind for one in evidence_in(read_report(text, title), own)}


@pytest.mark.parametrize(
    ("text", "title", "kind"),
    [
        ("The latest version of tensorboardX has changed its API.", "t", "a library changed"),
        ("It fails with torch 1.5.0 but is fine else.", "t", "a version does not fit"),
        ("x", "Not compatible with TensorFlow 2.4", "a version in the title"),
        ("We should pin that dependency to the old one; it does not work any more.", "t", "words about versions"),
        ("This looks like a numpy bug.", "t", "another library is blamed"),
        ("See https://github.com/pytorch/pytorch/issues/1234", "t", "a link to another project"),
        ("ERROR: Could not find a version that satisfies the requirement foo", "t", "an installation fails"),
        ("x", "Paths are wrong under Windows", "an operating system in the title"),
        ("OSError: [Errno 18] Invalid cross-device link", "t", "a failing system call"),
        ("It ends with Segmentation fault (core dumped)", "t", "a crash in native code"),
        ("CUDA driver version is insufficient for CUDA runtime version", "t", "the device"),
        ("The travis build is red.", "t", "a service"),
        ("AttributeError: module 'numpy' has no attribute 'float'", "t", "a name is missing in another package"),
        ("AttributeError: 'Tensor' object has no attribute 'true_divide_'", "t", "an object of another package misses an attribute"),
        ("OSError: [Errno 18] Invalid cross-device link", "t", "the system refuses"),
        ("DeprecationWarning: this call goes away", "t", "a deprecation"),
        ("I tried installing mxnet 1.6 and ran the tests.", "t", "a version was installed"),
        (TRACE, "t", "another package misses an attribute"),
        (TRACE, "t", "the stack trace ends in another package"),
    ],
)  # fmt: skip
def test_each_kind_of_evidence(text: str, title: str, kind: str) -> None:
    assert kind in ALL_KINDS
    assert kind in kinds(text, title)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The loss is computed wrongly in the last batch.", "Wrong loss"),
        ("The latest version of mypkg changed this.", "Fails since mypkg 2.0"),
        ("See https://github.com/me/mypkg/pull/7", "t"),
        ("OS: Windows 10\nPython version: 3.8\nCUDA/cuDNN version: 10.1", "Wrong mean"),
        ("AttributeError: module 'mypkg' has no attribute 'x'", "t"),
        ("x", "[Numpy] wrong result of where"),
        ("It is wrong.\ntorch==1.5.0\nnumpy==1.18\n[pip3] torch==1.5.0\nIs CUDA available: No", "Wrong mean"),
    ],
)
def test_what_is_no_evidence(text: str, title: str) -> None:
    assert kinds(text, title) - {"a version in the title"} == set()
    assert not extrinsic_of(read_report(text, title), ("mypkg",)).likely


@pytest.mark.parametrize(
    ("text", "title", "own_change"),
    [
        ("x", "0.7.3 breaks reusable loaders", True),
        ("I reverted to mypkg 0.14.1 and it works.", "t", True),
        ("This was introduced in #380.", "t", True),
        ("It worked in the previous release.", "t", True),
        ("I upgraded numpy to 1.24 and it fails.", "t", False),
        ("The mean is wrong.", "t", False),
    ],
)
def test_a_change_of_the_project_itself(text: str, title: str, own_change: bool) -> None:
    assert speaks_of_own_change(read_report(text, title), ("mypkg",)) is own_change


def test_the_short_name_of_a_project_is_its_own() -> None:
    assert {"pytorchlightning", "lightning"} <= own_names(["pytorch-lightning"])
    assert "pytorch" not in own_names(["pytorch-lightning"])
    assert kinds("It fails with lightning 0.7.3.", own=("pytorch-lightning",)) == set()
    assert kinds("It fails with lightning 0.7.3.") == {"a version does not fit"}


def test_evidence_in_the_title_is_marked() -> None:
    text, title = "Segmentation fault in torch.", "Segmentation fault"
    (one,) = [one for one in evidence_in(read_report(text, title)) if one.kind == "a crash in native code"]
    (two,) = [
        one for one in evidence_in(read_report(text, "It ends")) if one.kind == "a crash in native code"
    ]
    assert one.in_title and not two.in_title


def test_lists_and_ticked_boxes_are_not_spoken() -> None:
    report = read_report(
        "The mean is wrong.\nI have read the guide.\nI have a dog.\nnumpy==1.18\nPython version: 3.8", "t"
    )
    lines = [line for line in spoken(report).split("\n") if line]
    assert lines == ["The mean is wrong.", "I have a dog."]


def test_a_changed_library_is_told_with_its_version() -> None:
    report = read_report(
        "New release of tensorboardX 1.7 has breaking changes.\ntensorboardX==1.7",
        "Logger won't work with tensorboardX 1.7",
    )
    found = extrinsic_of(report, ("ignite",))
    assert found.likely and found.probability > 0.5
    (outside,) = [one for one in found.look_at if one.name == "tensorboardx"]
    assert outside.versions == ("1.7",) and "tensorboardX" in outside.quote


def test_the_projects_own_message_is_told() -> None:
    report = read_report("ValueError: bad shape", "t")
    assert any("itself writes" in reason for reason in extrinsic_of(report, own_message=True).reasons)
    assert any("in no string" in reason for reason in extrinsic_of(report, own_message=False).reasons)


def test_checks_on_this_machine(tmp_path: Path) -> None:
    missing = tmp_path / "data" / "train.csv"
    report = read_report(
        f"AttributeError: module 'numpy' has no attribute 'float'\nFileNotFoundError: [Errno 2] No such file or directory: '{missing}'\nnumpy==1.24.0",
        "Fails with numpy 1.24.0 on Windows",
    )
    found = extrinsic_of(report, ("mypkg",))
    assert found.likely
    environment = Environment("3.11.0", "CPython", "python", "linux", "x", "x86_64", None, {"numpy": "2.1.0"})
    here = check_here(
        report, found, tmp_path, Checked(environment, (Problem("bad", "numpy 2.1.0", "…", "…"),))
    )
    (numpy,) = [one for one in here.versions if one.name == "numpy"]
    assert numpy.installed == "2.1.0" and numpy.reported == ("1.24.0",) and numpy.differs
    whats = " ".join(problem.what for problem in here.problems)
    assert "removed numpy.float in 1.24" in whats and "train.csv does not exist" in whats
    assert any(problem.about == "numpy 2.1.0" for problem in here.problems)


def test_names_and_packages() -> None:
    assert plain_name("PyTorch-Lightning") == plain_name("pytorch_lightning")
    assert plain_name("ignite-0.1.0a1-py3.5.egg") == "ignite"
    assert package_of("C:\\v\\Lib\\site-packages\\torch\\nn.py") == "torch"
    assert package_of("/usr/lib/python3.8/threading.py") == "python"
    assert package_of("/home/me/train.py") is None
