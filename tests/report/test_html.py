"""The HTML page: self-contained, escaped, well-formed, small."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
import sample

from netmend.report.run.page import run_page
from netmend.vocabulary import Event, LossFact, ModuleFact, ParameterFact, Trace

VOID = {"meta", "link", "input", "br", "hr", "img"}
SAMPLES = {"healthy": sample.healthy, "gan": sample.gan, "empty": sample.empty, "failed": sample.failed}


class Outline(HTMLParser):
    """Checks nesting and remembers tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1:]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())

    def count(self, tag: str, **attributes: str) -> int:
        return sum(
            name == tag and all(found.get(key) == value for key, value in attributes.items())
            for name, found in self.tags
        )


@pytest.mark.parametrize("name", SAMPLES)
def test_every_page_is_well_formed_and_asks_nobody(name: str) -> None:
    page = run_page(SAMPLES[name]())
    outline = Outline(page)
    assert page.startswith("<!doctype html>")
    assert not outline.count("script") and not outline.count("iframe")
    assert not re.search(r"https?://|@import|url\(", page)
    for tag, attributes in outline.tags:
        for key in ("src", "href", "srcset", "action", "data"):
            assert (attributes.get(key) or "data:").startswith(("data:", "#")), (tag, attributes)
        assert not any(key.startswith("on") for key in attributes)
    identifiers = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_the_first_thing_on_the_page_is_how_the_run_went() -> None:
    outline = Outline(run_page(sample.failed()))
    texts = [text for text in outline.texts if text]
    start = texts.index("train.py crashed: 413 steps in 42.3 s", 1)
    assert "step 412: log of 0 gave -inf" in " ".join(texts[start : start + 8])
    assert "2.43 → nan" in texts


def test_plots_have_both_scales_and_tooltips() -> None:
    page = run_page(sample.healthy())
    outline = Outline(page)
    assert outline.count("input", type="radio") >= 2
    assert outline.count("svg") >= 8
    assert outline.count("title") > 100
    assert re.search(r"<title>step 1\ntraining: 2\.43", page)
    for caption in (
        "loss",
        "accuracy",
        "learning rate",
        "gradient norm",
        "gradient rms by depth",
        "silent share",
    ):
        assert f"<b>{caption}</b>" in page


def test_a_run_without_steps_advises_and_shows_no_plots() -> None:
    page = run_page(sample.empty())
    outline = Outline(page)
    assert outline.count("svg") == 0
    assert "no optimiser steps were seen" in page and "netmend.watch(model" in page


def test_hostile_names_are_escaped_everywhere() -> None:
    evil = '<script>alert("1")</script>'
    trace = sample.healthy(script=evil, arguments=(evil,), exception=evil, missing=(evil,), name=evil)
    modules = {
        evil: ModuleFact(evil, evil, "model", order=0, output_shapes=((1, 2),), created=sample.Site(evil, 1))
    }
    parameters = {evil: ParameterFact(evil, evil, (3, 3))}
    steps = sample.np.array([1, 2])
    tables = {
        ("gradient", evil): sample.table("gradient", evil, steps, rms=sample.np.array([1.0, 2.0])),
        ("activation", evil): sample.table("activation", evil, steps, rms=1.0, silent_share=0.5),
        ("step", evil): sample.table("step", evil, steps, loss=1.0),
        ("step", "x"): sample.table("step", "x", steps, loss=1.0),
        ("evaluation", evil): sample.table("evaluation", evil, steps, loss=1.0),
    }
    calls = (sample.Call(evil, evil, evil, sample.Site(evil, 3)),)
    facts = {**trace.facts, "module": modules, "parameter": parameters, "loss": {evil: LossFact(evil, evil)}}
    events = (Event(1, "nonfinite", evil, evil, sample.Site(evil, 2)),)
    page = run_page(Trace(facts, tables, (sample.Pattern(calls, ((1, 2),)),), events), title=evil)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 10
    assert not Outline(page).count("script")


def test_the_title_can_be_given() -> None:
    assert "<title>my run</title>" in run_page(sample.healthy(), title="my run")


def test_a_large_run_stays_small_and_keeps_its_extremes() -> None:
    trace = sample.large()
    page = run_page(trace)
    assert len(page.encode()) < 3_000_000
    assert Outline(page)
    # The spike sets the top of the loss plot, the dip its bottom on the logarithmic axis.
    logarithmic = page[page.index('<div class="log">') :]
    path = re.search(r'<path class="line c0" d="([^"]+)"', logarithmic)
    assert path is not None
    heights = [float(point.split()[1]) for point in re.split("[ML]", path[1]) if point]
    assert min(heights) == pytest.approx(10.0)
    assert max(heights) == pytest.approx(192.0)
    assert len(heights) < 1000


def test_non_finite_gradients_stand_out_in_the_heat_map() -> None:
    trace = sample.healthy()
    old = trace.table("gradient", "model.fc3.weight")
    values = old.values.copy()
    values[30:, old.columns.index("nonfinite")] = 7
    values[30:, old.columns.index("rms")] = sample.np.nan
    changed = sample.Table(old.kind, old.component, old.columns, old.steps, values)
    page = run_page(Trace(trace.facts, {**trace.tables, ("gradient", "model.fc3.weight"): changed}))
    assert re.search(r'class="bad".*?<title>model\.fc3, step 601: not finite</title>', page)
    assert page.count('class="bad"') == 30
