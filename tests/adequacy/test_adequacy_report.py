"""Adequacy as text, JSON and table."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from adequacy_sample import collected

from netmend.adequacy.assess import assess
from netmend.adequacy.collected import Collected
from netmend.adequacy.result import Adequacy, suggestions_csv
from netmend.report.adequacy import ADEQUACY, adequacy_document
from netmend.report.terminal import console, draw

DOCUMENT = Path(__file__).parents[2] / "docs" / "adequacy.md"


def still(count: int) -> Collected:
    rows = np.ones((count, 4), dtype=np.float32)
    return Collected(rows, np.arange(count), rows[:, :1], None, {"a": rows}, count, "input of layer head")


TRAIN = collected(300, 1)
SAMPLES = {
    "alike": assess(TRAIN, collected(150, 2), collected(60, 3, labelled=False)),
    "classes missing": assess(TRAIN, collected(150, 2, classes=(0, 3))),
    "few": assess(TRAIN, collected(15, 2)),
    "numbers": assess(collected(100, 1, outputs=None), collected(60, 2, outputs=None)),
    "nothing varies": assess(still(20), still(10)),
    "one input": assess(collected(1, 1), collected(1, 2)),
    "long names": assess(
        TRAIN, collected(150, 2, trace_of="input of layer " + "encoder." * 12, notes=("n" * 200,))
    ),
}


def printed(found: Adequacy, width: int) -> str:
    stream = StringIO()
    screen = console(stream)
    screen.width = width
    screen.print(draw(adequacy_document(found)))
    return stream.getvalue()


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [42, 80, 120])
def test_nothing_is_wider_than_the_terminal(name: str, width: int) -> None:
    text = printed(SAMPLES[name], width)
    assert max(map(len, text.splitlines())) <= width and "\x1b" not in text


def test_every_measure_is_told_in_one_sentence_beside_its_reference() -> None:
    text = " ".join(printed(SAMPLES["alike"], 200).split())
    assert text.startswith("netmend The test set covers about as much as the same number of training inputs")
    assert re.search(
        r"NLC the layers vary [\d.]+ times as widely as on 150 training inputs \([\d.]+ to [\d.]+ is usual",
        text,
    )
    for name in ("LSC", "DSC", "MDSC"):
        assert re.search(
            name
            + r" [\d.]+ % of the range of surprise is reached \(all training inputs: [\d.]+ %\), [\d.]+ times",
            text,
        )
    assert re.search(r"DSA [\d.]+ % of the test inputs are more surprising than 95 %", text)
    assert "LSA, DSA, MDSA: surprise" in text
    assert "label next indices of pool inputs" in text and "not whether the model is right" in text


def test_classes_and_what_could_not_be_measured_are_told() -> None:
    text = printed(SAMPLES["classes missing"], 100)
    assert text.startswith("netmend  3 classes have no test input: 1, 2, 4")
    assert re.search(r"\n +2 +\d+ +none", text) and "less than the training data" in text
    text = printed(SAMPLES["numbers"], 100)
    assert (
        "DSC   not measured: it compares classes, and the model has none" in text and "classes\n" not in text
    )
    assert "look at" in text and "give a pool" in text


@pytest.mark.parametrize("name", SAMPLES)
def test_json_has_the_documented_fields_and_no_bad_numbers(name: str) -> None:
    data = json.loads(ADEQUACY.json(SAMPLES[name]), parse_constant=pytest.fail)
    document = DOCUMENT.read_text(encoding="utf-8")
    fields = {
        *data,
        *(key for part in ("sets", "coverages", "surprises", "classes") for one in data[part] for key in one),
    }
    fields |= {
        key for one in data["suggestions"] for key in (*one, *(key for pick in one["inputs"] for key in pick))
    }
    missing = [field for field in fields if f"`{field}`" not in document]
    assert not missing and data["schema"] == 1


def test_json_says_what_the_data_says() -> None:
    found = SAMPLES["classes missing"]
    data = ADEQUACY(found)
    assert (
        data["missing_classes"] == [1, 2, 4]
        and data["source"] == "test"
        and data["mistakes"] == found.mistakes
    )
    assert [one["name"] for one in data["coverages"]] == ["NLC", "LSC", "DSC", "MDSC"]
    assert data["coverages"][1]["standing"] == "less" and len(data["coverages"][1]["samples"]) == 20
    assert [one["layer"] for one in data["coverages"][0]["layers"]] == ["first", "second"]


def test_the_table_holds_every_suggestion(tmp_path: Path) -> None:
    found = SAMPLES["alike"]
    rows = list(csv.DictReader(StringIO(suggestions_csv(found))))
    assert len(rows) == sum(len(one.inputs) for one in found.suggestions)
    first = next(one for one in found.suggestions if one.method == "DSA")
    told = [row for row in rows if row["method"] == "DSA"]
    assert [int(row["index"]) for row in told] == [pick.index for pick in first.inputs]
    assert [int(row["rank"]) for row in told] == list(range(1, len(told) + 1))
    assert all(row["score"] == "" for row in rows if row["method"] in ("MCP", "CoreSet"))
    found.save(tmp_path / "next.csv")
    assert (tmp_path / "next.csv").read_text(encoding="utf-8") == suggestions_csv(found)
