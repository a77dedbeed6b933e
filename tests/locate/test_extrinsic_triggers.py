"""Each kind of outer trigger: a report that shows it, and one that reads alike and does not."""

from __future__ import annotations

import pytest

from netmend.locate.bug_report import read_report
from netmend.locate.extrinsic_evidence import USED_AND_BLAMED, USED_IN_TITLE, evidence_in
from netmend.locate.extrinsic_patterns import TRIGGERS
from netmend.locate.words import spoken

# kind, title and text that show it, title and text that do not
EXAMPLES = [
    ("a device in the title", "Crash with two GPUs", "It stops.", "Crash with two groups", "It stops."),
    ("several or other devices", "Loss is nan", "With 4 GPUs the loss is nan.", "Loss is nan", "With 4 groups."),
    ("only on one kind of device", "Loss is nan", "It works fine on CPU.", "Loss is nan", "It works fine."),
    ("memory or size of the machine", "Stops", "The process gets killed.", "Stops", "The process gets stuck."),
    ("a platform in the title", "No output at Kaggle", "Nothing.", "No output at all", "Nothing."),
    ("a platform in the text", "No output", "I run it in Databricks.", "No output", "I run it in a loop."),
    ("another architecture", "Test fails", "On aarch64 the sum differs.", "Test fails", "The sum differs."),
    ("a version of Python", "Syntax", "It fails under Python 2.7.", "Syntax", "It fails under load."),
    ("it works elsewhere", "Hangs", "It works on my laptop but hangs here.", "Hangs", "It hangs on my data."),
    ("something is not installed", "Fails", "It fails if tf is not installed.", "Fails", "It fails if x is 0."),
    ("the network", "Cache", "There is no internet access.", "Cache", "There is no access key."),
    ("texts of other systems", "Parsing", "The file has CRLF endings.", "Parsing", "The file has endings."),
    ("it is gone", "Download", "The server has been shut down.", "Download", "The server is mine."),
    ("a security notice", "Pin", "See CVE-2018-18074.", "Pin", "See issue 18074."),
    ("another program", "Plots", "It is incompatible with seaborn.", "Plots", "It is drawn with seaborn."),
]  # fmt: skip


def kinds(title: str, text: str) -> set[str]:
    return {one.kind for one in evidence_in(read_report(text, title), ["ours"])}


@pytest.mark.parametrize(("kind", "title", "text", "other_title", "other"), EXAMPLES)
def test_shown_and_not_shown(kind: str, title: str, text: str, other_title: str, other: str) -> None:
    assert kind in kinds(title, text)
    assert kind not in kinds(other_title, other)


def test_every_kind_has_an_example() -> None:
    assert {pattern.kind for pattern in TRIGGERS} == {example[0] for example in EXAMPLES}


def test_libraries_that_the_report_uses() -> None:
    code = "```\nimport fastprogress\nfastprogress.bar(3)\n```\n"
    assert USED_IN_TITLE in kinds("Bars of fastprogress vanish", code)
    assert USED_IN_TITLE not in kinds("Bars vanish", code)
    assert USED_IN_TITLE not in kinds("Bars of ours vanish", code.replace("fastprogress", "ours"))
    assert USED_AND_BLAMED in kinds("Bars vanish", f"{code}\nSince fastprogress 0.2 they do.")
    assert USED_AND_BLAMED not in kinds("Bars vanish", f"{code}\nI draw with fastprogress bars.")


def test_the_machine_in_a_form_is_not_spoken() -> None:
    text = "The sum is wrong.\n\nSystem information\n\nUbuntu 18.04 on a laptop\nTesla V100, two GPUs\n\nExpected behavior\n\nThe sum is right."
    told = [line for line in spoken(read_report(text, "Sums")).split("\n") if line]
    assert told == ["The sum is wrong.", "Expected behavior", "The sum is right."]
    assert "several or other devices" not in kinds("Sums", text)


def test_a_sentence_ends_the_form() -> None:
    text = "Environment\n\nUbuntu\n\nWhen I add up three numbers the last one is always left out of it."
    assert spoken(read_report(text, "Sums")).strip() == text.rpartition("\n")[2]
