"""What `netmend check` found: for people at several widths, and in the forms that other programs read."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.errors import UsageError
from netmend.report.check.findings import FORMATS, Look, look_of, render, statistics, summary, write_to
from netmend.report.signs import cells, cropped, on_screen, wrapped
from netmend.vocabulary.finding import SAFE, UNSAFE, Edit, Finding, Fix, Related

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
WIDTHS = (50, 60, 80, 120)


class ZeroGradMissing:
    """Gradients are never cleared.

    They pile up from
    step to step.

    Call zero_grad() in the loop.
    """

    code: ClassVar[str] = "S101"
    advisory: ClassVar[bool] = False


class RateIsUnusual:
    """The learning rate is unusual."""

    code: ClassVar[str] = "S401"
    advisory: ClassVar[bool] = True


@dataclass(frozen=True)
class Outcome:
    """As much of an outcome as the forms need."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    failures: tuple[tuple[str, str], ...] = ()
    files: int = 2
    seconds: float = 0.0
    fixed: tuple[Finding, ...] = ()
    hidden: int = 0
    stale: int = 0
    texts: Mapping[tuple[str, int | None], str] = field(default_factory=dict)
    rules: ClassVar[dict[str, type]] = {"S101": ZeroGradMissing, "S401": RateIsUnusual}

    def source(self, file: str, cell: int | None = None) -> str:
        return self.texts.get((file, cell), "")


TRAIN = """\
import torch
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for x, y in loader:
    loss = loss_fn(net(x), y)
    loss.backward()
    optimizer.step()
"""
MISSING = Finding(
    "S101",
    "LOOP-ZERO-GRAD",
    "Gradients of every step pile up in this loop: `optimizer.zero_grad()` is never called. Call it before `loss.backward()`.",
    "train.py",
    6,
    4,
    6,
    19,
    Fix("Call `optimizer.zero_grad()` first", (Edit(6, 0, 6, 0, "    optimizer.zero_grad()\n"),), SAFE),
    (Related("the optimiser is made here", "train.py", 2, 12), Related("the loader", "src/data.py", 3)),
)
RATE = Finding("S401", "HYP-LR-HIGH", "0.1 is much.", "train.py", 2, 46, 2, 52)
CELL = Finding("S101", "LOOP-ZERO-GRAD", "Gradients pile up.", "notes/mnist.ipynb", 2, 0, 2, 5, cell=3)
UNUSED = Finding("S001", "", "This comment silences nothing.", "a b/ä,:%.py", 1, 7, 1, 30)
TEXTS = {
    ("train.py", None): TRAIN,
    ("src/data.py", None): "a\nb\nloader = DataLoader(data)\n",
    ("notes/mnist.ipynb", 3): "x = 1\nloss.backward()\n",
}
OUTCOME = Outcome(
    (RATE, MISSING, CELL, UNUSED), (("bad.py", "line 3: invalid syntax"),), files=5, texts=TEXTS
)


def text(outcome: Outcome, look: Look | None = None) -> str:
    return render("text", outcome, look or Look())  # type: ignore[arg-type]


def form(name: str, outcome: Outcome = OUTCOME) -> Any:
    return json.loads(render(name, outcome))  # type: ignore[arg-type]


def closing(outcome: Outcome, width: int | None = None, color: bool = False, unsafe: bool = False) -> str:
    return summary(outcome, Look(width, color), unsafe)  # type: ignore[arg-type]


def test_a_finding_for_people() -> None:
    assert text(replace(OUTCOME, findings=(MISSING,)), Look(62)) == (
        "train.py:6:5: S101 [*] Gradients of every step pile up in this\n"
        "  loop: `optimizer.zero_grad()` is never called. Call it\n"
        "  before `loss.backward()`.\n"
        "    5 │     loss = loss_fn(net(x), y)\n"
        "  ▸ 6 │     loss.backward()\n"
        "      │     ^^^^^^^^^^^^^^^\n"
        "    7 │     optimizer.step()\n"
        "  see  line 2: the optimiser is made here\n"
        "    2 │ optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "  see  src/data.py:3: the loader\n"
        "    3 │ loader = DataLoader(data)\n"
        "  fix  Call `optimizer.zero_grad()` first (--fix)\n"
        "\n"
    )


def test_without_a_width_the_head_stays_on_one_line() -> None:
    first = text(replace(OUTCOME, findings=(MISSING,))).splitlines()[0]
    assert first == f"train.py:6:5: S101 [*] {MISSING.message}"
    short = text(OUTCOME, Look(excerpts=False)).splitlines()
    assert len(short) == 4 and short[2] == "notes/mnist.ipynb:cell 3:2:1: S101 Gradients pile up."


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_terminal_or_coloured_without_one(width: int) -> None:
    for shown in (
        text(OUTCOME, Look(width)),
        closing(replace(OUTCOME, hidden=3, stale=2), width),
        statistics(OUTCOME, "text", Look(width)),  # type: ignore[arg-type]
    ):
        assert max(map(cells, shown.splitlines())) <= width
        assert "\x1b" not in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_colours_change_nothing_but_colours(width: int) -> None:
    for make in (lambda look: text(OUTCOME, look), lambda look: closing(OUTCOME, look.width, look.color)):
        painted = make(Look(width, color=True))
        assert "\x1b[1;31m" in painted
        assert re.sub("\x1b\\[[0-9;]*m", "", painted) == make(Look(width))


def test_lines_that_are_shown_already_are_not_repeated() -> None:
    near = replace(MISSING, related=(Related("steps here", "train.py", 7, 4),), fix=None)
    shown = text(replace(OUTCOME, findings=(near,)))
    assert shown.count("optimizer.step()") == 1 and "see  line 7: steps here" in shown


def test_tabs_wide_signs_and_long_lines_keep_their_marks() -> None:
    source = "\tx = '漢字' + loss\n" + "a" * 300 + " + loss + " + "b" * 300 + "\n"
    found = (
        Finding("S101", "", "m", "a.py", 1, 12, 1, 16),
        Finding("S101", "", "m", "a.py", 2, 303, 2, 307),
    )
    lines = text(Outcome(found, texts={("a.py", None): source}), Look(60)).splitlines()
    marks = [index for index, line in enumerate(lines) if "^" in line]
    for index in marks:
        code, mark = lines[index - 1], lines[index]
        start = cells(code[: code.index("loss")])
        assert cells(mark[: mark.index("^")]) == start and mark.count("^") == 4
    assert len(marks) == 2 and "…" in lines[marks[1] - 1]


def test_long_statements_are_cut_and_texts_that_are_gone_leave_the_head() -> None:
    long = Finding("S101", "", "m", "a.py", 1, 0, 9, 3)
    shown = text(Outcome((long,), texts={("a.py", None): "for x in y:\n" + "    z()\n" * 20}))
    assert shown.count("▸") == 3 and "…" in shown and "^^^^^^^^^^^" in shown
    assert text(Outcome((long,))) == "a.py:1:1: S101 m\n\n"
    assert (
        text(Outcome((replace(long, line=50, end_line=50),), texts={("a.py", None): "x\n"})).count("\n") == 2
    )


def test_source_cannot_steer_the_terminal() -> None:
    source = "x = '\x1b[2J\u202e' # \x07\n"
    found = Finding("S101", "", "bad \x1b[31m name", "a\x1b[2J\n.py", 1, 0, 1, 1)
    shown = text(Outcome((found,), texts={("a\x1b[2J\n.py", None): source}), Look(80))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.integers(0, 90), st.integers(0, 90), st.sampled_from([30, 60, None]))
def test_any_line_can_be_shown(line: str, column: int, end: int, width: int | None) -> None:
    found = Finding("S101", "", line, "a.py", 1, column, 1, end)
    shown = text(Outcome((found,), texts={("a.py", None): line}), Look(width))
    assert shown.endswith("\n\n")
    if width is not None:
        code = [one for one in shown.splitlines() if "│" in one]
        assert all(cells(one) <= width for one in code)


def test_signs_are_measured_and_cut() -> None:
    assert cells("a漢é") == 4
    assert on_screen("\ta\tb") == ("    a   b", [0, 4, 5, 8, 9])
    assert cropped("abcdefgh", 2, 6) == ("…de…", 2)
    assert cropped("abc", 0, 10) == ("abc", 0)
    assert list(wrapped("one two three", 5, 9)) == ["one", "two three"]
    assert list(wrapped("", 5, 9)) == [""]


@pytest.mark.parametrize(
    ("outcome", "wanted"),
    [
        (Outcome(), "No problems in 2 files.\n"),
        (Outcome(files=0), "No Python files were found to check.\n"),
        (Outcome(files=1), "No problems in 1 file.\n"),
        (Outcome(problems=(("a", "x"), ("b", "x"))), "Nothing was checked.\n2 files could not be checked.\n"),
        (Outcome((MISSING,)), "Found 1 problem in 1 file (1 fixable with --fix).\n"),
        (Outcome((MISSING, RATE, CELL)), "Found 3 problems in 2 files (1 fixable with --fix).\n"),
        (Outcome((RATE,)), "Found 1 problem in 1 file.\n"),
        (Outcome((RATE,), fixed=(MISSING,)), "Fixed 1 problem. Found 1 problem left in 1 file.\n"),
        (Outcome(fixed=(MISSING, MISSING)), "Fixed 2 problems. No problems left in 2 files.\n"),
        (Outcome(hidden=1), "No problems in 2 files.\nThe baseline hides 1 known problem.\n"),
        (
            Outcome(problems=(("bad.py", "x"),), stale=2),
            "No problems in 1 file.\n1 file could not be checked.\n"
            "2 entries of the baseline no longer occur; --write-baseline brings it up to date.\n",
        ),
    ],
)
def test_the_closing_lines(outcome: Outcome, wanted: str) -> None:
    assert closing(outcome) == wanted


def test_the_closing_lines_tell_which_fixes_there_are() -> None:
    assert MISSING.fix is not None
    unsafe = replace(MISSING, fix=replace(MISSING.fix, applicability=UNSAFE))
    both = Outcome((MISSING, unsafe, unsafe))
    assert "(1 fixable with --fix, 2 more with --unsafe-fixes)" in closing(both)
    assert "(3 fixable with --fix)" in closing(both, unsafe=True)
    assert "(1 fixable with --fix --unsafe-fixes)" in closing(Outcome((unsafe,)))
    shown = text(replace(OUTCOME, findings=(unsafe,)))
    assert "[*]" not in shown and "first (--unsafe-fixes)" in shown


def test_statistics() -> None:
    shown = statistics(OUTCOME)  # type: ignore[arg-type]
    assert shown == (
        "2  S101  [*]  Gradients are never cleared.\n"
        "1  S001       A comment silences a finding that is not there.\n"
        "1  S401       The learning rate is unusual.\n"
        "\n[*] 1 problem fixable with --fix.\n"
    )
    data = json.loads(statistics(OUTCOME, "json"))  # type: ignore[arg-type]
    assert data[0] == {"code": "S101", "title": "Gradients are never cleared.", "count": 2, "fixable": 1}
    assert statistics(Outcome()) == ""  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--statistics goes with --format text or json, got 'sarif'"):
        statistics(OUTCOME, "sarif")  # type: ignore[arg-type]


def test_json_is_the_contract() -> None:
    data = form("json")
    assert list(data) == ["schema", "netmend", "findings", "problems", "failures", "files", "fixed", "hidden"]
    assert data["schema"] == 1 and data["files"] == 5
    assert data["problems"] == [{"file": "bad.py", "message": "line 3: invalid syntax"}]
    rate, missing, cell, unused = data["findings"]
    assert missing == {
        "code": "S101",
        "cause": "LOOP-ZERO-GRAD",
        "aliases": missing["aliases"],
        "file": "train.py",
        "cell": None,
        "line": 6,
        "column": 4,
        "end_line": 6,
        "end_column": 19,
        "message": MISSING.message,
        "advisory": False,
        "related": [
            {
                "message": "the optimiser is made here",
                "file": "train.py",
                "cell": None,
                "line": 2,
                "column": 12,
            },
            {"message": "the loader", "file": "src/data.py", "cell": None, "line": 3, "column": 0},
        ],
        "fix": {
            "title": "Call `optimizer.zero_grad()` first",
            "applicability": "safe",
            "edits": [
                {
                    "line": 6,
                    "column": 0,
                    "end_line": 6,
                    "end_column": 0,
                    "text": "    optimizer.zero_grad()\n",
                }
            ],
        },
    }
    assert rate["aliases"] == ["HLR"] and rate["advisory"] is True and rate["fix"] is None
    assert cell["cell"] == 3 and unused["aliases"] == [] and unused["cause"] == ""


def test_sarif_follows_the_schema_and_counts_from_one() -> None:
    for outcome in (OUTCOME, Outcome(), replace(OUTCOME, failures=(("train.py", "S101 (KeyError: 1)"),))):
        jsonschema.Draft4Validator(SCHEMA).validate(form("sarif", outcome))
    (run,) = form("sarif")["runs"]
    rate, missing, cell, unused = run["results"]
    assert missing["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "train.py"},
        "region": {"startLine": 6, "startColumn": 5, "endLine": 6, "endColumn": 20},
    }
    (replacement,) = missing["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 6, "startColumn": 1, "endLine": 6, "endColumn": 1}
    assert replacement["insertedContent"] == {"text": "    optimizer.zero_grad()\n"}
    assert [place["message"]["text"] for place in missing["relatedLocations"]] == [
        "the optimiser is made here",
        "the loader",
    ]
    assert [result["level"] for result in run["results"]] == ["note", "error", "error", "warning"]
    assert cell["message"]["text"] == "Cell 3, line 2: Gradients pile up."
    assert cell["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert unused["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/%C3%A4%2C%3A%25.py"
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["S001", "S101", "S401"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert rules[1]["help"]["text"] == (
        "Gradients are never cleared.\n\nThey pile up from step to step.\n\nCall zero_grad() in the loop."
    )
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "line 3: invalid syntax"
    assert rate["properties"] == {"cause": "HYP-LR-HIGH"}


def test_the_schema_does_refuse_what_is_wrong() -> None:
    log = form("sarif")
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate(log)


def test_fingerprints_stay_when_lines_move_and_differ_for_the_same_line_twice() -> None:
    def names(source: str, *lines: int) -> list[str]:
        found = tuple(Finding("S101", "", "m", "a.py", line, 0, line, 1) for line in lines)
        outcome = Outcome(found, texts={("a.py", None): source})
        from_sarif = [
            result["partialFingerprints"]["netmend/v1"]
            for result in form("sarif", outcome)["runs"][0]["results"]
        ]
        assert from_sarif == [issue["fingerprint"] for issue in form("gitlab", outcome)]
        return from_sarif

    first, second = names("step()\nstep()\n", 1, 2)
    assert first != second
    assert names("# new\n\nif x:\n    step()\n    step()\n", 4, 5) == [first, second]
    assert names("leap()\n", 1) != [first]


def test_github_escapes_what_would_end_a_field() -> None:
    shown = render("github", OUTCOME).splitlines()  # type: ignore[arg-type]
    assert shown[1] == (
        "::error file=train.py,line=6,endLine=6,col=5,endColumn=20,"
        f"title=netmend S101%3A Gradients are never cleared::{MISSING.message}"
    )
    assert shown[0].startswith("::notice file=train.py,line=2")
    assert shown[2] == (
        "::error file=notes/mnist.ipynb,title=netmend S101%3A Gradients are never cleared"
        "::Cell 3, line 2: Gradients pile up."
    )
    assert shown[3].startswith("::warning file=a b/ä%2C%3A%25.py,line=1,")
    assert len(shown) == 4
    broken = Finding("S101", "", "100 %\nnext ::error::x", "a.py", 1, 0, 2, 0)
    (line,) = render("github", Outcome((broken,))).splitlines()  # type: ignore[arg-type]
    assert line.endswith("::100 %25 next ::error::x") and "col=" not in line
    assert render("github", Outcome()) == ""  # type: ignore[arg-type]


def test_gitlab_has_what_code_quality_asks_for() -> None:
    rate, missing, cell, unused = form("gitlab")
    assert missing == {
        "description": f"S101: {MISSING.message}",
        "check_name": "S101",
        "fingerprint": missing["fingerprint"],
        "severity": "major",
        "location": {"path": "train.py", "lines": {"begin": 6, "end": 6}},
    }
    assert [issue["severity"] for issue in (rate, cell, unused)] == ["info", "major", "minor"]
    assert cell["location"]["lines"]["begin"] == 1 and "Cell 3, line 2" in cell["description"]
    assert len({issue["fingerprint"] for issue in form("gitlab")}) == 4
    assert form("gitlab", Outcome()) == []


@pytest.mark.parametrize("name", FORMATS)
def test_names_that_are_no_unicode_can_be_written(name: str) -> None:
    odd = Finding("S101", "", "m \udcff", "a\udcff.py", 1, 0, 1, 1)
    shown = render(name, Outcome((odd,), texts={("a\udcff.py", None): "\udcff\n"}))  # type: ignore[arg-type]
    if name != "github":
        shown.encode()
    if name not in ("text", "concise", "github"):
        json.loads(shown)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(
        UsageError, match="--format must be one of text, concise, json, sarif, github, gitlab, got 'xml'"
    ):
        render("xml", OUTCOME)  # type: ignore[arg-type]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "wanted"),
    [
        (io.StringIO(), {}, Look(None, False)),
        (io.StringIO(), {"COLUMNS": "70"}, Look(70, False)),
        (io.StringIO(), {"FORCE_COLOR": "1"}, Look(None, True)),
        (Terminal(), {"COLUMNS": "70"}, Look(70, True)),
        (Terminal(), {"COLUMNS": "3"}, Look(30, True)),
        (Terminal(), {"COLUMNS": "70", "NO_COLOR": "1"}, Look(70, False)),
        (Terminal(), {"COLUMNS": "70", "TERM": "dumb"}, Look(70, False)),
    ],
)
def test_the_look_follows_the_stream(
    stream: io.StringIO, variables: dict[str, str], wanted: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert look_of(stream) == wanted


def test_narrow_encodings_get_plain_signs() -> None:
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding="ascii", newline="")
    write_to(stream, text(replace(OUTCOME, findings=(MISSING,))))
    assert b"  > 6 |     loss.backward()\n" in data.getvalue()


def test_text_needs_nothing_heavy() -> None:
    program = (
        "import sys; from netmend.report.check.findings import render; import netmend.report.check.text;"
        "print(sorted({'rich', 'typer', 'numpy', 'json', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
