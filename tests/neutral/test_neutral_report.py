"""A neutrality analysis as text, JSON and page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from neutral_sample import analysis, every, node, nodes

from netmend.neutral.neutrality import START, Neutrality
from netmend.report.neutral.document import NEUTRALITY, neutral_document, verdict_words
from netmend.report.neutral.page import graph, neutral_page
from netmend.report.terminal import console, draw

DOCUMENT = Path(__file__).parents[2] / "docs" / "neutral.md"
SAMPLES = every()


def printed(found: Neutrality, width: int = 80) -> str:
    stream = StringIO()
    screen = console(stream)
    screen.width = width
    screen.print(draw(neutral_document(found)))
    return stream.getvalue()


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [50, 80, 120])
def test_nothing_is_wider_than_the_terminal(name: str, width: int) -> None:
    text = printed(SAMPLES[name], width)
    assert max(map(len, text.splitlines())) <= width and "\x1b" not in text


def test_the_text_tells_alternatives_and_how_they_were_found() -> None:
    text = printed(analysis(), 100)
    first = text.splitlines()[0]
    assert first == "netmend  2 minimal fixes found"
    assert re.search(r" 2 +rate 0\.3 → 0\.003 .* 0\.950 ± 0\.010 +1 .* minimal", text)
    assert re.search(r" 5 +epochs 10 → 20; kind sigmoid → relu .* 0\.950 +2 .* minimal", text)
    assert re.search(r" 6 +epochs 10 → 20; rate 0\.3 → 0\.003 .* contains 2", text)
    tree = text[text.index("search") :]
    assert re.search(r"2 ● +rate 0\.3", tree) and re.search(r"6 ○ +rate 0\.3", tree)
    assert "tanh" not in tree and "1 failed" in tree and "12 more changes not tried" in tree
    assert "31.5 trainings (budget 60 trainings)" in tree and "R999" in tree


@pytest.mark.parametrize(
    ("name", "tone", "words"),
    [
        ("fix", "good", "as well as the known fix"),
        ("like", "good", "reach 0.945"),
        ("out of reach", "warn", "No change reaches 0.99"),
        ("fix fails", "bad", "it did not finish training"),
        ("interrupted", "bad", "it did not finish training"),
        ("no measure", "bad", "name one with --metric"),
        ("crashes", "good", "1 minimal fix found: "),
    ],
)
def test_the_verdict_says_what_was_asked(name: str, tone: str, words: str) -> None:
    found, text = verdict_words(SAMPLES[name])
    assert found == tone and words in text


def test_a_program_that_is_as_good_as_its_fix_is_told() -> None:
    assert "already reaches the goal" in printed(SAMPLES["neutral"])
    assert "already reaches the goal" not in printed(SAMPLES["fix"])


@pytest.mark.parametrize("name", SAMPLES)
def test_json_has_every_documented_field_and_no_other(name: str) -> None:
    data = json.loads(NEUTRALITY.json(SAMPLES[name]))
    words = set(re.findall(r"`([a-z_]+)`", DOCUMENT.read_text(encoding="utf-8")))
    parts = [data, data["metric"], data["goal"], *data["alternatives"], *data["nodes"]]
    parts += [change for one in data["nodes"] for change in one["changes"]]
    assert {key for part in parts for key in part} <= words
    assert data["schema"] == 1 and len(data["nodes"]) == len(SAMPLES[name].nodes)


def test_json_of_alternatives() -> None:
    data = NEUTRALITY(analysis())
    assert data["goal"] == {
        "kind": "best",
        "value": pytest.approx(0.9533, abs=1e-4),
        "values": [0.96, 0.95, 0.95],
        "node": 6,
    }
    first, second, third = data["alternatives"]
    assert first["knobs"] == ["rate"] and first["causes"] == ["HYP-LR-HIGH"] and first["minimal"]
    assert second["knobs"] == ["epochs", "kind"] and second["lines"] == 2
    assert third["contains"] == [2] and not third["minimal"]
    assert first["patch"].startswith("--- a/train.py\n+++ b/train.py\n")
    assert data["nodes"][3]["mean"] is None and data["nodes"][3]["exception"] == "ValueError: <b>no</b>"
    assert data["nodes"][5]["changes"][1] == {
        "title": "kind sigmoid → relu",
        "cause": "ACT-HID-WRONG",
        "unit": "N1",
        "knob": "kind",
        "file": "train.py",
        "line": 5,
    }


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_page_is_well_formed_and_asks_nobody(name: str) -> None:
    page = neutral_page(SAMPLES[name])
    tags = Tags()
    tags.feed(page)
    assert tags.open == [] and tags.wrong == []
    assert "http" not in page.replace("http-equiv", "") and "<script" not in page
    assert "<b>no</b>" not in page


def test_the_page_shows_the_graph_and_every_patch() -> None:
    found = analysis()
    page = neutral_page(found)
    assert page.count("<circle") == len(found.nodes)
    assert page.count('<path class="edge') == len(found.nodes) - 1
    assert page.count('class="edge way"') == 3  # to 2, to 1 and on to 5
    assert page.count('<details class="way') == 3 and page.count('<details class="way minimal"') == 2
    assert "-rate = 0.3" in page and "+kind = &#39;relu&#39;" in page
    assert "2: rate 0.3 → 0.003\nval acc 0.950 ± 0.010 (3 seeds)\nas good as its parent" in page
    assert ">fails<" in page and "prefers-color-scheme: dark" in page


def test_better_nodes_are_darker_and_higher() -> None:
    drawn = str(graph(analysis()))
    spots = {
        int(match[3]): (int(match[1]), float(match[2]))
        for match in re.finditer(
            r'class="h(\d+) \w+" cx="[\d.]+" cy="([\d.]+)" r="[\d.]+"><title>(\d+):', drawn
        )
    }
    assert spots[4][0] == 0 and spots[6][0] == 11
    assert spots[4][1] > spots[0][1] > spots[1][1] > spots[6][1]
    assert 'class="bad plain"' in drawn


def test_many_nodes_of_one_value_do_not_hide_each_other() -> None:
    same = tuple(replace(nodes()[1], id=number, expanded=False) for number in range(1, 60))
    drawn = str(graph(analysis(known=(nodes()[0], *same))))
    places = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert len(set(places)) == len(places) == 60


def test_a_program_that_nothing_is_known_of() -> None:
    assert graph(SAMPLES["no measure"]) == ""
    found = analysis(known=(node(0, None, (), START),))
    assert "(not trained)" in printed(found)
