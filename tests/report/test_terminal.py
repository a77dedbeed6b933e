"""Summary, page and list of runs, as text."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import sample
from rich.console import RenderableType

from netmend.report.run.diagnosis import summary
from netmend.report.run.overhead import overhead_words
from netmend.report.run.runs_table import runs_table
from netmend.report.run.terminal_page import run_text
from netmend.report.terminal import console
from netmend.store.runs import Judged
from netmend.vocabulary import Event, ModuleFact, RunFact, Trace

SAMPLES = {"healthy": sample.healthy, "gan": sample.gan, "empty": sample.empty, "failed": sample.failed}
WIDTHS = (60, 80, 120)


def text_of(renderable: RenderableType, width: int = 80) -> str:
    target = console(io.StringIO())
    target.width = width
    target.print(renderable)
    return target.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def short(trace: Trace, width: int = 80) -> str:
    return text_of(summary(trace, Path(".netmend/runs") / trace.run.name), width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_is_wider_than_the_terminal_or_coloured_without_one(name: str, width: int) -> None:
    trace = SAMPLES[name]()
    for text in (short(trace, width), text_of(run_text(trace), width)):
        assert max(map(len, text.splitlines())) <= width
        assert "\x1b" not in text


@pytest.mark.parametrize("width", WIDTHS)
def test_the_summary_is_short_and_tells_the_essentials(width: int) -> None:
    text = short(sample.healthy(), width)
    joined = " ".join(text.split())
    assert len(text.splitlines()) <= (14 if width > 60 else 20)
    for fact in (
        "1,200 steps in 42.3 s",
        "MLP, 5 layers, 575,050 parameters train.py:30",
        "AdamW, rate 0.001, weight decay 0.01",
        "cross_entropy train.py:52",
        "classification, 10 classes",
        "50,000 samples in batches of 64, shuffled",
        "of the best constant prediction's 2.30",
        "evaluation 95.3 % (10,000 samples)",
        "0.3 s in the loop (0.6 %)",
        ".netmend/runs/20260726-140312-train",
        "netmend show 20260726-140312-train",
    ):
        assert fact in joined
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_relative_loss_is_the_last_loss_over_the_constant_predictors() -> None:
    trace = sample.healthy()
    table = trace.table("progress", sample.LOSS)
    ratio = table.column("loss")[-1] / table.column("constant_loss")[-1]
    assert f"{ratio * 100:.1f} % of the best constant prediction" in short(trace, 120)


@pytest.mark.parametrize(
    ("level", "words"), [(1.48, "1.48 times"), (0.64, "0.640 times"), (25, "25.0 times"), (0.042, "4.2 % of")]
)
def test_the_relative_loss_is_said_as_the_faults_say_it(level: float, words: str) -> None:
    trace = sample.healthy()
    old = trace.table("progress", sample.LOSS)
    values = old.values.copy()
    values[:, old.columns.index("constant_loss")] = values[:, old.columns.index("loss")] / level
    changed = sample.Table(old.kind, old.component, old.columns, old.steps, values)
    tables = {**trace.tables, ("progress", sample.LOSS): changed}
    text = " ".join(short(sample.Trace(trace.facts, tables, trace.patterns, trace.events), 120).split())
    assert f"{words} the best constant prediction" in text


def test_both_halves_of_a_gan_and_what_was_not_seen_are_told() -> None:
    text = " ".join(short(sample.gan(), 120).split())
    assert "generator: Generator" in text and "discriminator: Discriminator" in text
    assert "optimizer_g: Adam, rate 0.0002" in text and "optimizer_d: Adam" in text
    assert re.search(r"optimizer_d \S+ → \S+", text)
    assert "not seen generator is compiled" in text


def test_a_run_without_steps_says_so_and_what_to_do() -> None:
    text = " ".join(short(sample.empty()).split())
    assert "no optimiser steps were seen" in text
    assert "No model was called either." in text
    assert "netmend run train.py --epochs 3" in text and "netmend.watch(model" in text
    assert "overhead" not in text


def test_the_origin_of_nan_comes_first() -> None:
    lines = short(sample.failed(), 120).splitlines()
    assert "crashed: 413 steps" in lines[0]
    assert "ValueError: loss is nan  train.py:56" in lines[1]
    assert "second line" not in " ".join(lines)
    assert "step 412: log of 0 gave -inf" in lines[2]
    assert "model.fc5" in lines[2] and lines[2].endswith("train.py:27")
    assert any("→ nan" in line for line in lines)


def test_many_models_do_not_flood_the_summary() -> None:
    trace = sample.gan()
    models = {f"m{index}": sample.ModelFact(f"m{index}", "Net") for index in range(30)}
    trace = Trace({**trace.facts, "model": models}, trace.tables)
    assert "and 27 more" in short(trace)
    assert len(short(trace, 120).splitlines()) < 20


def test_the_page_has_every_section_and_the_loop_in_order() -> None:
    text = text_of(run_text(sample.healthy()), 120)
    titles = re.findall(r"^([A-Z][\w ]+) ─", text, re.MULTILINE)
    assert titles == [
        "Curves",
        "Layers",
        "Optimisers",
        "Losses",
        "Loop",
        "Evaluation",
        "Data",
        "Cost of watching",
        "Environment",
    ]
    loop = text[text.index("1,198 steps (1–400, 402–800, 802–1,200)") :]
    order = [loop.index(f"train.py:{line}") for line in (48, 49, 50, 52, 53, 54)]
    assert order == sorted(order)
    assert "torch 2.13.0" in text


def test_the_layers_table_holds_the_last_statistics() -> None:
    trace = sample.healthy()
    row = next(line for line in text_of(run_text(trace), 120).splitlines() if line.startswith("model.fc1 "))
    assert "Linear" in row and "64×512" in row and "401,920" in row and "train.py:12" in row
    gradient = trace.series("gradient", "model.fc1.weight", "rms")[1][-1]
    assert f"{gradient:.5f}" in row


def test_narrow_tables_leave_columns_out_and_say_which() -> None:
    narrow, wide = (text_of(run_text(sample.healthy()), width) for width in (60, 120))
    assert "Not shown in 60 columns" in narrow
    assert "Not shown" not in wide
    assert "grad. rms" in narrow


def test_markup_and_control_characters_of_the_program_stay_harmless() -> None:
    trace = sample.healthy()
    modules = {"evil": ModuleFact("[red]x[/red]\x1b[2J\nnext", "Linear", "model", order=0)}
    facts = {**trace.facts, "module": modules}
    text = text_of(run_text(Trace(facts, trace.tables, events=(Event(1, "note", "a\x07b"),))), 120)
    assert "[red]x[/red]" in text
    assert "\x1b" not in text and "\x07" not in text


def test_a_stream_without_unicode_gets_ascii() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    target = console(stream)
    target.print(run_text(sample.healthy()))
    target.print(summary(sample.failed(), Path("x")))
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert "2.43 -> nan" in text and "402-800" in text


def test_logs_get_a_hundred_columns_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert console(io.StringIO()).width == 100
    monkeypatch.setenv("COLUMNS", "72")
    assert console(io.StringIO()).width == 72


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert console(io.StringIO()).no_color
    monkeypatch.delenv("NO_COLOR")
    assert console(io.StringIO(), no_color=True).no_color


@dataclass(frozen=True)
class Info:
    id: str
    path: Path
    run: RunFact | None
    problem: str | None = None
    judged: Judged | None = None


def test_runs_are_listed_readable_or_not() -> None:
    infos = [
        Info("20260726-a", Path("a"), sample.run_fact()),
        Info("20260726-b", Path("b"), sample.run_fact(status="failed", exception="ValueError: x")),
        Info("20260726-c", Path("c"), None, "not a netmend run\nmore"),
    ]
    for width in WIDTHS:
        text = text_of(runs_table(infos), width)
        assert max(map(len, text.splitlines())) <= width
        assert all(info.id in text for info in infos)
    assert "crashed (ValueError)" in text and "1,200" in text
    assert "unreadable: not a netmend run" in text


def test_without_runs_the_list_says_how_to_make_one() -> None:
    assert "netmend run train.py" in text_of(runs_table([]))


def test_tables_of_one_step_and_of_infinities_are_shown() -> None:
    steps = np.array([1])
    tables = [sample.table("step", "optimizer", steps, loss=np.inf, gradient_norm=0.0)]
    trace = sample.make_trace([sample.run_fact(steps=1), *sample.program_facts()], tables)
    assert "inf → inf" in short(trace)
    assert "gradient norm" in text_of(run_text(trace))


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"seconds": 0.9, "own_seconds": 0.05, "overhead": 0.06}, "0.05 s in the loop"),
        ({"seconds": 7.0, "own_seconds": 0.05, "overhead": 0.007, "judge_seconds": 0.3},
         "0.05 s in the loop (0.7 %), 0.3 s to judge"),
        ({"seconds": 5.0, "own_seconds": 0.2, "overhead": 0.04, "steady_overhead": 0.009}, "0.2 s in the loop"),
        ({"seconds": 9.0, "own_seconds": 2.0, "overhead": 2.64, "every": 1}, "264 % slower (--full)"),
        ({"seconds": 9.0, "own_seconds": 2.0, "overhead": 0.5, "every": 8}, "50.0 % slower (--every 8)"),
    ],
)  # fmt: skip
def test_overhead_says_what_was_spent_where(run: dict[str, float], words: str) -> None:
    assert overhead_words(RunFact("a", "a.py", steps=100, **run)).startswith(words)
