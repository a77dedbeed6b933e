"""Reports of a repair: terminal, page and JSON of results made by hand."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import repaired
from repaired import ACCURACY, ROOT, SOURCE
from test_html import Outline

from netmend.program.text.spans import Span
from netmend.repair.objective import Objective
from netmend.repair.result import Result
from netmend.repair.search import Attempt
from netmend.repair.version import Part, Version
from netmend.report.content import DiffLine
from netmend.report.numbers import mean_words
from netmend.report.patches import places, version_lines
from netmend.report.repair.document import repair_json, repair_text
from netmend.report.repair.page import course_chart, ends_chart, repair_page
from netmend.report.terminal import Diff, console
from netmend.trials.trial import FINISHED, Outcome
from netmend.vocabulary import UNDECIDED, Diagnosis
from netmend.vocabulary.change import Change

NASTY = "<script>alert('x')</script> & \x1b[31m"


def text_of(result: Result, width: int = 80, applied: bool = False) -> str:
    target = console(io.StringIO())
    target.width = width
    target.print(repair_text(result, applied))
    return target.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def joined(result: Result) -> str:
    return " ".join(text_of(result, 200).split())


def with_change(title: str, before: str, after: str) -> Result:
    """A proven result whose patch exchanges one text for another in a file of one line."""
    part = Part(Change("R401", "HYP-LR-HIGH", title), {"train.py": (Span(0, len(before), after),)})
    return replace(repaired.proven(), version=Version({"train.py": before}, (), (part,)))


def data_of(result: Result) -> dict[str, object]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(repair_json(result), parse_constant=refuse)  # type: ignore[no-any-return]


# -- the terminal ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", (60, 80, 120))
@pytest.mark.parametrize("name", repaired.RESULTS)
def test_nothing_is_wider_than_the_terminal_or_coloured_without_one(name: str, width: int) -> None:
    text = text_of(repaired.RESULTS[name](), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


def test_a_proven_fix_tells_fault_patch_proof_and_cost() -> None:
    text = joined(repaired.proven())
    for fact in (
        "netmend A fix is proven",
        "Sigmoid is applied twice LYR-SOFTMAX-EXTRA, 99 % sure train.py:5",
        "`bce_with_logits` applies sigmoid itself",
        "change Drop the sigmoid train.py:5 learning rate 0.3 → 0.003 train.py:7",
        "- nn.Sigmoid(),",
        "+optimizer = Adam(model.parameters(), lr=0.003)",
        "proof val acc 0.65 ± 0.03 → 0.930 ± 0.009 over 5 seeds",
        "better with 5 of 5 seeds; p = 0.031, d = 11; by 0.278 (95 % interval 0.232 to 0.323)",
        "“val acc”, as the program prints it; higher is better",
        "a training: 400 steps, 1.7 s → 1.9 s",
        "search 4.5 trainings (budget 20 trainings), proof 10 trainings; 21.7 s in all",
        "the same command with --apply",
    ):
        assert fact in text
    assert ROOT not in text
    assert "--apply" not in text_of(repaired.proven(), applied=True)


def test_what_was_tried_stands_best_first() -> None:
    rows = [re.split(r" {2,}", line.strip()) for line in text_of(repaired.proven(), 120).splitlines()]
    assert rows[-6:] == [
        ["the original program", "0.627", "1"],
        ["Drop the sigmoid", "0.912, error 37.3 % → 8.8 %; kept", "1"],
        ["learning rate 0.3 → 0.003", "0.660, error 37.3 % → 34.0 %", "1"],
        ["learning rate 0.3 → 3", "stopped early (no gain alone)", "0.4"],
        ["learning rate 0.3 → 30", "fails", "0.1"],
        ["checks: other seeds, parts left out", "1"],  # together the 4.5 trainings of the search
    ]


def test_only_some_of_many_attempts_are_shown() -> None:
    result = repaired.nothing()
    many = tuple(replace(result.attempts[0], change=replace(repaired.RATE, title=f"n{i}")) for i in range(30))
    text = text_of(replace(result, attempts=many))
    assert "and 20 more that helped less" in text
    assert len(re.findall(r"^  n\d+ ", text, re.MULTILINE)) == 10
    assert repair_page(replace(result, attempts=many)).count("<td>n") == 30


def test_what_is_missing_is_told() -> None:
    text = joined(repaired.promising())
    assert "A change looks promising, but is not proven" in text
    assert "(2 of 5 fail) → 0.675 ± 0.030 (1 of 5 fail)" in text
    assert "missing the patched program fails with 1 of 5 seeds afterwards another fault" in text
    assert "new after the change: D104" in text
    assert "nan" not in text and "--apply" not in text
    assert "95%:" not in text  # differences to trainings that failed would be made up


def test_without_a_fix_the_end_of_the_search_is_told() -> None:
    text = joined(repaired.nothing())
    assert text.startswith("netmend No fix found Sigmoid is applied twice")
    assert "ended no other change helped" in text
    assert "0.100, much worse" in text
    assert "does not hold across seeds" in joined(repaired.refuted())


def test_a_program_that_fails_tells_how() -> None:
    text = joined(repaired.crashed())
    assert "No fix found; the program fails" in text
    assert "ValueError: <b>no</b> data" in text and "second line" not in text
    assert "refused connecting to data.example.org" in text


def test_a_program_that_fails_and_is_mended() -> None:
    result = repaired.proven()
    made = replace(result.verification, before=(None,) * 5)  # type: ignore[type-var]
    text = joined(replace(result, baseline=repaired.crashed().baseline, verification=made))
    assert "val acc (fails) → 0.930 ± 0.009" in text
    assert "0.912, runs to its end; kept" in text


def test_a_healthy_program_takes_one_line() -> None:
    assert text_of(repaired.healthy(), 60).strip() == "netmend  No fault found, and none of 2 changes helped"
    undecided = replace(repaired.healthy(), diagnosis=Diagnosis(UNDECIDED, reason="Only 3 steps were seen."))
    assert "Undecided: Only 3 steps were seen; none of 2 changes helped" in joined(undecided)


def test_arguments_are_shown_like_a_patch() -> None:
    text = text_of(repaired.arguments_only())
    assert "  -train.py --lr 10\n  +train.py --lr 0.01\n" in text
    assert "No fault was reported; the change was found by trial." in text
    assert "lower is better" in text and "--apply" not in text


def test_the_measure_of_the_proof_is_told_when_the_search_used_another() -> None:
    result = repaired.proven()
    points = {"printed:test acc": [[1, 0.5]], ACCURACY.series: [[1, 0.5]]}
    changed = replace(result, before=(Outcome(FINISHED, series=points),))
    assert "“test acc”, as the program prints it; higher is better; the search used “val acc”" in joined(
        changed
    )
    assert data_of(changed)["metric"]["name"] == "test acc"  # type: ignore[index]


def test_a_measure_that_became_no_number_has_no_share() -> None:
    text = joined(replace(repaired.proven(), baseline=repaired.outcome(math.nan)))
    assert "the original program the metric is not a number" in text
    assert "Drop the sigmoid 0.912; kept" in text


def test_long_changed_lines_go_on_below_and_others_are_cut() -> None:
    long = "model = Sequential(" + ", ".join(f"Linear({i}, {i})" for i in range(10)) + ")"
    target = console(io.StringIO())
    target.width = 40
    target.print(Diff((DiffLine("new", f"+{long}"), DiffLine("same", f" {long}"))))
    lines = target.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= 40
    assert "".join(line[1:].lstrip("…").strip() for line in lines[:-1]).replace(" ", "") == long.replace(
        " ", ""
    )
    assert all(line.startswith("+…") for line in lines[1:-1])
    assert lines[-1].startswith(" model") and lines[-1].endswith("…")


@pytest.mark.parametrize("sign", ("\x1b[2J", "\u202e", "\x07"))
def test_the_program_cannot_steer_the_terminal(sign: str) -> None:
    result = with_change(f"rate{sign}", f"a = 1{sign}\n", f"a = 2{sign}\n")
    crashed = replace(
        repaired.crashed(), baseline=replace(repaired.crashed().baseline, exception=f"E: {sign}")
    )
    for text in (text_of(result), text_of(crashed), repair_page(result)):
        assert sign not in text


# -- the patch -----------------------------------------------------------------------------------------------------------


def test_lines_of_changes_are_those_of_the_original() -> None:
    result = repaired.proven()
    assert places(result.version) == (("train.py", 5), ("train.py", 7))
    assert places(repaired.arguments_only().version) == (None,)
    inserted = Part(repaired.DROP, {"train.py": (Span(0, 0, "a\nb\nc\n"),)})
    version = Version({"train.py": SOURCE}, (), (inserted,))
    within = version.text("train.py", "").index("b")
    later = Part(repaired.RATE, {"train.py": (Span(within, within + 1, "B"),)})
    both = replace(
        version, parts=(inserted, later, repaired.slowed(version.text("train.py", "").replace("b", "B")))
    )
    assert places(both) == (("train.py", 1), ("train.py", 1), ("train.py", 7))


def shown_lines(result: Result) -> tuple[DiffLine, ...]:
    return version_lines(result.version, result.script)


def test_kinds_of_lines_follow_the_patch() -> None:
    lines = shown_lines(with_change("x", "-- a/b\r\nkept\r\n", "++ c\r\nkept\r\n"))
    assert [line.kind for line in lines] == ["file", "file", "hunk", "old", "new", "same"]
    assert lines[3].text == "--- a/b"
    assert [line.kind for line in shown_lines(with_change("x", "a", "b"))][-1] == "note"


@pytest.mark.parametrize(
    ("values", "words"),
    (
        ((0.627, 0.712, 0.642), "0.66 ± 0.05"),
        ((0.93, 0.95), "0.940 ± 0.014"),
        ((1000.0, 1012.0), "1,006 ± 8"),
        ((1e-5, 2e-5), "1.50e-5 ± 7.07e-6"),
        ((0.9, 0.90000001), "0.9000 ± 7e-9"),
        ((0.5, 0.5), "0.500"),
        ((0.5, None), "0.500"),
        ((None, math.inf), "(fails)"),
    ),
)
def test_means_have_as_many_digits_as_they_deserve(values: tuple[float | None, ...], words: str) -> None:
    assert mean_words(values) == words


# -- JSON ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", repaired.RESULTS)
def test_every_result_is_valid_json_with_all_fields(name: str) -> None:
    data = data_of(repaired.RESULTS[name]())
    fields = (
        "schema verdict patch arguments causes titles changes metric before after p_value effect_size interval "
        "improvement missing new_faults new_symptoms seeds trainings verification_trainings seconds budget stopped "
        "baseline tried"
    )
    assert set(fields.split()) <= set(data)
    assert data["schema"] == 1
    assert set(data["metric"]) >= {"name", "higher_is_better"}  # type: ignore[call-overload]


def test_every_field_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    part = text.partition("## netmend repair")[2]
    data = data_of(repaired.proven())
    nested = [data[name] for name in ("metric", "cost", "baseline")]
    nested += [data[name][0] for name in ("changes", "faults", "tried")]  # type: ignore[index]
    for fields in (data, *nested):
        assert [name for name in fields if f"`{name}`" not in part] == []  # type: ignore[attr-defined]


def test_json_of_a_proven_fix() -> None:
    data = data_of(repaired.proven())
    assert data["verdict"] == "proven" and data["arguments"] is None
    assert data["patch"] == repaired.proven().patch and "-    nn.Sigmoid()," in str(data["patch"])
    assert data["causes"] == ["LYR-SOFTMAX-EXTRA", "HYP-LR-HIGH"]
    assert data["before"] == [0.627, 0.712, 0.642, 0.637, 0.642]
    assert data["interval"] == [0.232, 0.323] and data["verification_trainings"] == 10
    assert data["changes"][1] == {  # type: ignore[index]
        "title": "learning rate 0.3 → 0.003",
        "cause": "HYP-LR-HIGH",
        "repair": "R401",
        "file": "train.py",
        "line": 7,
    }
    assert data["baseline"]["faults"] == ["LYR-SOFTMAX-EXTRA"]  # type: ignore[index, call-overload]
    assert data["baseline"]["value"] == pytest.approx(0.627)  # type: ignore[index, call-overload]
    fault = data["faults"][0]  # type: ignore[index]
    assert (fault["code"], fault["file"], fault["line"]) == ("LYR-SOFTMAX-EXTRA", "train.py", 5)
    tried = data["tried"][1]  # type: ignore[index]
    assert tried["status"] == "stopped" and tried["gain"] is None and tried["value"] is None


def test_json_has_null_for_what_is_not_a_number() -> None:
    data = data_of(repaired.promising())
    assert data["p_value"] is None
    assert data["before"] == [0.6, None, 0.62, 0.61, None]
    none = data_of(repaired.crashed())
    assert none["patch"] == "" and none["before"] == [] and none["verification_trainings"] == 0
    assert none["metric"]["name"] is None  # type: ignore[index]


def test_json_of_new_arguments() -> None:
    data = data_of(repaired.arguments_only())
    assert data["patch"] == "" and data["arguments"] == ["--lr", "0.01"]
    assert data["changes"][0]["file"] is None  # type: ignore[index]


def test_json_keeps_bytes_that_are_no_text() -> None:
    data = data_of(with_change("x", "a = '\udcff'\n", "b = '\udcff'\n"))
    assert "+b = '\udcff'" in str(data["patch"])


# -- the page ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", repaired.RESULTS)
def test_every_page_is_well_formed_and_asks_nobody(name: str) -> None:
    page = repair_page(repaired.RESULTS[name]())
    outline = Outline(page)
    assert page.startswith("<!doctype html>")
    assert not outline.count("script") and not outline.count("iframe")
    assert not re.search(r"https?://|@import|url\(", page)
    assert page.encode()
    assert "nan" not in "".join(re.findall(r"<svg.*?</svg>", page))


def test_the_page_shows_verdict_patch_figures_and_attempts() -> None:
    page = repair_page(repaired.proven())
    outline = Outline(page)
    texts = " ".join(filter(None, outline.texts))
    assert outline.count("h1", **{"class": "verdict healthy"}) == 1
    assert outline.count("span", **{"class": "old"}) == 2 and outline.count("span", **{"class": "new"}) == 1
    assert outline.count("svg") == 2
    assert outline.count("path", **{"class": "line before"}) == 5
    assert outline.count("path", **{"class": "line after mean"}) == 1
    assert outline.count("circle", **{"class": "end after"}) == 5
    for fact in (
        "A fix is proven",
        "0.65 ± 0.03",
        "LYR-SOFTMAX-EXTRA, 99 % sure, mended",
        "stopped early (no gain alone)",
    ):
        assert fact in texts


def test_trainings_that_failed_are_crosses() -> None:
    page = repair_page(repaired.promising())
    assert page.count('class="fail before"') == 2 and page.count('class="fail after"') == 1
    assert "× failed" in page and 'class="verdict undecided"' in page


def test_everything_on_the_page_is_escaped() -> None:
    result = with_change(NASTY, f"a = 1  # {NASTY}\n", f"a = 2  # {NASTY}\n")
    fault = replace(repaired.FAULT, title=NASTY, summary=NASTY, reason=NASTY)
    series = f"printed:{NASTY}"
    objective = Objective(series, True, True)
    outcomes = tuple(Outcome(FINISHED, series={series: [[1, 0.1], [2, 0.5]]}) for _ in repaired.SEEDS)
    page = repair_page(
        replace(
            result,
            script=NASTY,
            arguments=(NASTY,),
            objective=objective,
            before=outcomes,
            after=outcomes,
            diagnosis=Diagnosis("faulty", (fault,)),
            attempts=(Attempt(Change("R", NASTY, NASTY), FINISHED, 0.5, 0.1, 1.0),),
            verification=replace(
                result.verification,  # type: ignore[type-var]
                missing=(NASTY,),
                new_symptoms=(NASTY,),
            ),
            problems=(NASTY,),
            stopped=NASTY,
        )
    )
    assert "<script" not in page and "\x1b" not in page
    assert page.count("&lt;script&gt;") > 10
    Outline(page)


def test_a_measure_told_only_once_has_no_course() -> None:
    once = tuple(Outcome(FINISHED, steps=400, series={ACCURACY.series: [[400, 0.9]]}) for _ in range(5))
    result = replace(repaired.proven(), before=once, after=once)
    assert not course_chart(result)
    assert ends_chart(result)
    Outline(repair_page(result))


def test_courses_of_different_lengths_have_a_mean() -> None:
    short = Outcome("failed", series={ACCURACY.series: [[40, 0.2], [80, math.nan]]})
    result = repaired.proven()
    drawn = course_chart(replace(result, before=(short, *result.before[1:])))
    assert 'class="line before mean"' in drawn
    assert "nan" not in "".join(re.findall(r' (?:d|x|y|cx|cy)="[^"]*"', drawn))


def test_long_series_of_noisy_losses_are_drawn_on_a_logarithmic_axis() -> None:
    steps = np.arange(1, 401)

    def noisy(seed: int, end: float) -> Outcome:
        values = end + 1000 * np.exp(-steps / 10.0 - seed / 10)
        points = [[int(step), float(value)] for step, value in zip(steps + seed, values, strict=True)]
        return Outcome(FINISHED, series={"training:relative": points})

    result = replace(
        repaired.arguments_only(),
        before=tuple(noisy(seed, 1.0) for seed in range(5)),
        after=tuple(noisy(seed, 0.1) for seed in range(5)),
    )
    drawn = course_chart(result)
    assert ">10<" in drawn and ">100<" in drawn
    assert len(drawn) < 300_000
