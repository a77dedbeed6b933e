"""`netmend mutate` as a user starts it: a small program trained for real; and results made by hand as text, JSON and page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from netmend.cli import main
from netmend.errors import UsageError
from netmend.mutate.additions import Addition
from netmend.mutate.choice import Estimate
from netmend.mutate.examined import Examined
from netmend.mutate.laboratory import Run
from netmend.mutate.magnitude import Found, Scale
from netmend.mutate.result import SOURCE, WEIGHT_LEVEL, Mutant, MutationResult, SetScore, Turned
from netmend.mutate.scoring import COUNTED, CRASHED, OutcomeScore, Score
from netmend.mutate.session import ESTIMATED, INTERRUPTED
from netmend.mutate.study import refuse_failure
from netmend.mutate.test_sets import TRAINING
from netmend.mutate.verdicts import Verdict
from netmend.report.mutate.document import MUTATION, mutation_document
from netmend.report.mutate.page import mutation_page
from netmend.report.terminal import console, draw
from netmend.trials.trial import FAILED, FINISHED, Outcome

DOCUMENT = Path(__file__).parents[2] / "docs" / "mutate.md"

PROGRAM = """\
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(240, 4)
y = (x[:, :2].sum(1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(25):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[:160]), y[:160])
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print((model(x[160:]).argmax(1) == y[160:]).float().mean())
open("log.txt", "w").write("trained")
"""


def call(*arguments: str) -> object:
    """The exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["mutate", *arguments])
    return ended.value.code


def test_a_program_and_its_test_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, results = tmp_path / "home", tmp_path / "results"
    home.mkdir()
    results.mkdir()
    monkeypatch.chdir(home)
    Path("train.py").write_text(PROGRAM)
    options = ("--subset", "few=test:first=2", "--operators", "M302", "-j", "1")
    files = (("--json", "o.json"), ("--html", "o.html"), ("--additions", "more.npz"))
    written = [word for option, name in files for word in (option, str(results / name))]
    assert call(*options, *written, "train.py") == 0
    data = json.loads((results / "o.json").read_text())
    assert [each["name"] for each in data["tests"]] == ["test", "few"]
    (source,) = [mutant for mutant in data["mutants"] if mutant["level"] == "source"]
    assert source["operator"] == "M302" and source["verdicts"]["test"]["killed"]
    assert source["patch"].startswith("--- a/train.py") and "-loss" in source["patch"]
    weights = [mutant for mutant in data["mutants"] if mutant["level"] == "weights"]
    assert {mutant["operator"] for mutant in weights} >= {"W101", "W102"}
    assert data["tests"][0]["inputs"] == 80 and len(data["tests"][0]["originals"]) == 5
    assert data["trainings"] <= 5 + 1 + 5 and data["notes"] == []
    assert capsys.readouterr().out.startswith("netmend  Mutation score of test: 1.00")
    assert source["standing"] == "counted" and "All mutants" in (results / "o.html").read_text()
    assert Path("train.py").read_text() == PROGRAM and not Path("log.txt").exists()
    assert call(*options, "--json", str(results / "again.json"), "-q", "train.py") == 0
    again = json.loads((results / "again.json").read_text())
    assert again["trainings"] == 0 and again["tests"] == data["tests"] and again["mutants"] == data["mutants"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name the script"),
        (("gone.py",), "no file"),
        (("--profile", "slow", "train.py"), "--profile"),
        (("--test", "a,b,c", "train.py"), "3 parts"),
        (("--subset", "w", "train.py"), "--subset"),
        (("--time-limit", "0", "train.py"), "--time-limit"),
        (("--least", "2", "train.py"), "--least"),
        (("--json", "nowhere/o.json", "train.py"), "does not exist"),
        (("--html", ".", "train.py"), "directory"),
        (("--executor", "cloud", "train.py"), "--executor"),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("print('not run')\n")
    assert call(*arguments) == 2
    assert words in capsys.readouterr().err
    assert not Path(".netmend").exists()


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            Run(Outcome(FAILED, exception="ValueError: no data"), None),
            "does not train to its end .ValueError: no data",
        ),
        (Run(Outcome(FAILED, exception="UsageError: no module named x"), None), "^no module named x"),
        (
            Run(Outcome(FINISHED), Examined({}, {"problem": "no call of a model was seen"})),
            "no call of a model",
        ),
        (
            Run(Outcome(FINISHED, notes=("the examination failed: KeyError: 'a'",)), None),
            "examination failed",
        ),
    ],
)
def test_programs_that_cannot_be_compared_are_told(run: Run, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        refuse_failure(run)


# -- results made by hand --------------------------------------------------------------------------------------------


def verdict(killed: bool, effect: float = 2.0) -> Verdict:
    return Verdict(
        killed, 0.01 if killed else 0.4, effect, 0.9, False, 5, "worse" if killed else "no difference"
    )


def mutant(
    name: str, test: bool, weak: bool, level: str = SOURCE, standing: str = COUNTED, note: str = ""
) -> Mutant:
    verdicts = {TRAINING: verdict(True), "test": verdict(test), "weak": verdict(weak, 0.1)}
    scores = {key: (0.8, float("nan")) for key in verdicts}
    code, _, title = name.partition(" ")
    patch = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-lr = <1>\n+lr = 2\n"
    return Mutant(
        name,
        code,
        "HYP-LR-LOW",
        title,
        level,
        standing,
        5,
        verdicts,
        scores,
        0.2,
        None,
        "",
        "train.py:7",
        patch,
        note,
    )


def sample() -> MutationResult:
    mutants = (
        mutant("M101 learning rate 0.1 → 0.001", True, False),
        mutant("M302 the loss is <maximised>", True, True, standing=CRASHED, note="ValueError: \x1b[31mno"),
        mutant("W101 layer, 30% of it", True, False, WEIGHT_LEVEL),
    )
    strong = Score(
        1.0, {"M101": 1.0, "M302": None}, (OutcomeScore("M101", 1.0, 1, 1), OutcomeScore("M302", None))
    )
    weak = Score(0.25, {"M101": 0.25, "M302": None}, (OutcomeScore("M101", 0.25, 0, 1),))
    found = {
        name: Found(killed, 0.1, ((0.001, verdict(True)),))
        for name, killed in ((TRAINING, 0.01), ("test", 0.001), ("weak", None))
    }
    added = (Addition("class 3", ("M101 learning rate 0.1 → 0.001",), (1, 2), 3),)
    return MutationResult(
        script="train.py",
        directory="/work",
        arguments=("--quick",),
        profile="quick",
        task="classes",
        seeds=(0, 101),
        training=(0.95, 0.97),
        sets=(
            SetScore("test", "what the program itself evaluates last", 200, (0.9, 0.92), strong, weak),
            SetScore(
                "weak", "test, classes 0, 1", 50, (0.9, 0.92), weak, weak, "test", 0.75, 0.0, added, "test"
            ),
        ),
        mutants=mutants,
        turned=(Turned("M101", "learning rate lowered", Scale(0.1, 1e-5, 10.0, logarithmic=True), found),),
        estimate=Estimate(2, 1, 1, 11, 31, 2.0, 2),
        trainings=12,
        cached=3,
        seconds=24.0,
        problems=("the score on weak is 1 in every training: it cannot tell mutants apart",),
    )


SAMPLES = {
    "whole": sample(),
    "estimated": replace(
        sample(), sets=(), mutants=(), turned=(), training=(), problems=(), stopped=ESTIMATED
    ),
    "interrupted": replace(sample(), sets=(), mutants=(), turned=(), training=(), stopped=INTERRUPTED),
    "errors": replace(sample(), higher_is_better=False, task="values", paired=False),
}


def printed(result: MutationResult, width: int = 100) -> str:
    stream = StringIO()
    screen = console(stream)
    screen.width = width
    screen.print(draw(mutation_document(result)))
    return stream.getvalue()


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [50, 80, 120])
def test_nothing_is_wider_than_the_terminal(name: str, width: int) -> None:
    text = printed(SAMPLES[name], width)
    assert max(map(len, text.splitlines())) <= width and "\x1b" not in text


def test_the_text_tells_scores_survivors_and_additions() -> None:
    text = printed(sample(), 160)
    assert text.splitlines()[0] == "netmend  Mutation score of test: 1.00"
    assert re.search(r"weak +0\.25 +0 of 1 +0\.75", text)
    assert "weak misses" in text and "train.py:7" in text
    assert "class 3 from test: detects 1 survivor" in text
    assert "11 to 31 trainings of 2.0 s" in text and "12 trainings, 3 reused" in text
    assert "1 crashing" in text


def test_survivors_that_are_too_close_to_call_are_told_apart() -> None:
    found = sample()
    close = tuple(
        replace(
            mutant,
            verdicts={
                test: replace(verdict, p_value=0.1, effect_size=1.0) if test == "weak" else verdict
                for test, verdict in mutant.verdicts.items()
            },
        )
        for mutant in found.mutants
    )
    text = printed(replace(found, mutants=close), 160)
    assert "perhaps 1 mutant more: too close to call" in text and "train.py:7" not in text


@pytest.mark.parametrize("name", SAMPLES)
def test_json_has_every_documented_field_and_no_other(name: str) -> None:
    data = json.loads(MUTATION.json(SAMPLES[name]))
    words = set(re.findall(r"`([a-z_]+)`", DOCUMENT.read_text(encoding="utf-8")))
    fields = (
        set(data)
        | {key for each in data["tests"] for key in each}
        | {key for each in data["mutants"] for key in each}
    )
    assert fields <= words, fields - words


def test_numbers_that_are_none_are_null() -> None:
    assert MUTATION(sample())["mutants"][0]["scores"]["test"] == [0.8, None]


class Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", SAMPLES)
def test_the_page_is_whole_and_harmless(name: str) -> None:
    page = mutation_page(SAMPLES[name])
    checker = Checker()
    checker.feed(page)
    assert (
        checker.open == []
        and "<maximised>" not in page
        and "\x1b" not in page
        and "http" not in page.replace("http-equiv", "")
    )


def several() -> MutationResult:
    """Two operators: one mutant is noticed, two are missed, one is too close to call, one does not count."""
    close = mutant("M101 c", True, False)
    verdicts = {**close.verdicts, "weak": replace(close.verdicts["weak"], p_value=0.1, effect_size=1.0)}
    mutants = (
        mutant("M302 a", True, True),
        mutant("M101 b", True, False),
        replace(close, verdicts=verdicts),
        mutant("M101 d", True, False),
        mutant("M302 e", True, True, standing=CRASHED),
        mutant("W101 f", True, False, WEIGHT_LEVEL),
    )
    return replace(sample(), mutants=mutants)


def test_the_page_begins_with_a_picture_and_what_is_missed() -> None:
    page = mutation_page(several())
    heads = re.findall(r"<h2>([^<]+)</h2>", page)
    assert heads[:3] == ["What is detected", "What is missed", "What to add"]
    assert page.index("<h2>What is missed") < page.index("<table")
    assert '<span class="missed" style="width: 66.7%" title="2 missed">2</span>' in page
    # Plainly missed ones stand before those that are too close to call.
    beside = re.findall(r'<summary>([^<]+) <span class="quiet">([^<]+)</span>', page)
    assert beside == [
        ("M101 b", "missed by weak"),
        ("M101 d", "missed by weak"),
        ("M101 c", "too close to call on weak"),
    ]


def test_bars_count_what_became_of_the_mutants_of_each_operator() -> None:
    from netmend.report.mutate.page import bar_charts

    of_test, of_weak = bar_charts(several())
    assert [(bar.code, bar.parts) for bar in of_test.bars] == [
        ("M101", (("detected", 3),)),
        ("M302", (("detected", 1),)),
    ]
    assert of_weak.bars[0].parts == (("missed", 2), ("inconclusive", 1)) and of_weak.widest == 3


def test_a_page_without_survivors_says_so() -> None:
    page = mutation_page(replace(sample(), mutants=(mutant("M302 a", True, True),)))
    assert "Nothing: every mutant that counts is detected." in page


def test_the_score_is_one_number_and_a_sentence_says_what_it_is() -> None:
    half = Score(0.5, {"M101": 0.5, "M302": None}, (OutcomeScore("M101", 0.5, 1, 1),))
    found = replace(sample(), sets=(replace(sample().sets[0], source=half),))
    page = mutation_page(found)
    tiles = re.findall(
        r'<span class="name">score[^/]*</span><span class="value">([^<]+)</span><span class="beside">([^<]*)<',
        page,
    )
    assert tiles == [("0.50", "mean over 1 operator")]
    for told in (page, " ".join(printed(found, 100).split())):
        assert (
            "The score is the mean over operators" in told
            and "In numbers of faults: test detects 1 of 1." in told
        )
    assert "In numbers" not in mutation_page(SAMPLES["estimated"])


def test_tables_scroll_as_a_whole_on_a_phone() -> None:
    phone = mutation_page(sample()).partition("@media (max-width: 34rem) {")[2].partition("\n}")[0]
    assert (
        ".scroll { max-height: none; }" in phone
        and ".scroll table { width: max-content; max-width: 44rem; }" in phone
    )


def test_added_inputs_can_be_tested_with(tmp_path: Path) -> None:
    from netmend.mutate.additions import write_added

    meta = {"sets": {"test": {"names": [""], "whole": True, "batches": 2}}}
    first, second = np.arange(4.0).reshape(2, 2), np.arange(4.0, 8.0).reshape(2, 2)
    data = tmp_path / "data.npz"
    np.savez(
        data,
        **{
            "test/0/0": first,
            "test/0/label": [0, 1],
            "test/1/0": second,
            "test/1/label": [2, 3],
            "meta": json.dumps(meta),
        },
    )
    result = replace(sample(), data=str(data))
    assert write_added(result, tmp_path / "more") == 2
    with np.load(tmp_path / "more.npz") as file:
        assert file["x"].tolist() == [[2.0, 3.0], [4.0, 5.0]] and file["y"].tolist() == [1, 2]


def test_the_command_is_known_and_says_what_it_lacks(tmp_path: Path) -> None:
    asked = [sys.executable, "-m", "netmend", "mutate"]
    shown = subprocess.run([*asked, "--help"], capture_output=True, text=True, check=False)
    assert shown.returncode == 0 and "--subset" in shown.stdout
    bare = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert bare.returncode == 2 and "netmend mutate train.py" in bare.stderr
