"""What `netmend locate` says about its own answer: how far apart files are, and when a report is too vague."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netmend.cli import main
from netmend.locate.answer import Answer, Located, RankedFile, Reason
from netmend.locate.bug_report import read_report
from netmend.locate.classify import kind_of
from netmend.report.locate import standing_words, vague_words


def located(text: str, *reasons: Reason) -> Located:
    files = tuple(
        RankedFile(f"{name}.py", score, reasons) for name, score in (("a", 2.0), ("b", 1.0), ("c", -9.0))
    )
    return Located(read_report(text), Answer(files, 30))


def test_a_report_with_a_word_or_two_is_too_vague() -> None:
    assert "only “work” could be compared" in vague_words(
        located("it does not work", Reason("words", "work in the file", words=("work",)))
    )
    enough = ("optimizer", "scheduler", "resume")
    assert not vague_words(located("x", Reason("words", "…", words=enough)))
    assert not vague_words(located("it fails", Reason("path", "train.py is named")))
    lately = Reason("change", "changed lately by 0123456 of 2026-11-18: start")
    assert vague_words(
        located("it does not work", Reason("words", "work in the file", words=("work",)), lately)
    )
    far = Located(read_report("it does not work"), Answer((
        RankedFile("a.py", 2.0, (Reason("words", "work in its path", words=("work",)),)),
        RankedFile("b.py", -2.0, (Reason("message", "holds a string like “does not work”"),)),
    ), 30))  # fmt: skip
    assert vague_words(far)
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    work()\nValueError: no'
    assert not vague_words(located(trace, Reason("words", "work", words=("work",))))


def test_each_file_says_how_it_stands_beside_the_first() -> None:
    found = located("x")
    assert [standing_words(file, found.files[0]) for file in found.files] == [
        "",
        "36.8 % of the first",
        "< 1 % of the first",
    ]


def test_the_type_is_not_given_as_its_own_reason() -> None:
    reasons = kind_of(
        read_report("Training diverges: the loss becomes nan after a few steps\n\nlr is 0.1")
    ).reasons
    assert not [reason for reason in reasons if "of the type" in reason]


def test_fragments_of_words_are_no_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from netmend.locate.signals.texts import shown_words

    assert shown_words(["don", "re", "lr", "loader"]) == ("loader",)
    (tmp_path / "sampler.py").write_text("def draw(re, don):\n    return re.draw(don)\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("def close(file):\n    return file\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["locate", "don't re-draw when training", "--repo", str(tmp_path), "--no-cache"])
    told = capsys.readouterr().out
    assert "draw" in told and not re.search(r"words? .*\b(don|re)\b", told)
