"""Commits that a report names speak for the files that they touched; links to other repositories do not."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from repository_in_memory import DAY, NOW, MemoryRepository, commit, corpus_of, query_of

from netmend.locate.bug_report import read_report
from netmend.locate.bug_report_mentions import numbers_in, references_in
from netmend.locate.corpus import Corpus, load_corpus, save_corpus
from netmend.locate.features import measure
from netmend.locate.fusion import FixedFusion
from netmend.locate.session import locate
from netmend.locate.signals.reported import Referenced

FILES = {f"pkg/{name}.py": f"{name.upper()} = 1\n" for name in ("loader", "model", "other", "trainer")}
HASH = "8ed4339a1b2c3d4e5f60718293a4b5c6d7e8f901"
CHANGES = (
    replace(commit(5, 2, "Load lazily", "pkg/loader.py"), hash=HASH),
    commit(4, 3, "Train longer (#1757)", "pkg/trainer.py", "pkg/model.py"),
    replace(commit(3, 4, "Clean up", "pkg/model.py"), body="Fixes #12 and other/thing#77."),
    commit(2, 5, "Rename everything (#99)", *(f"old/{number}.py" for number in range(60)), "pkg/other.py"),
    commit(1, 6, "Begin", *FILES),
)
LINK = "https://github.com/me/My_Project"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_of(FILES, *CHANGES)


def scored(corpus: Corpus, text: str, repository: str = "my-project") -> dict[str, float]:
    query = replace(query_of(text, title="It fails"), repository=repository)
    scores = Referenced().scores(query, corpus)
    return {corpus.paths[row]: float(scores[row]) for row in np.flatnonzero(scores)}


@pytest.mark.parametrize(
    "text",
    [
        f"Since {HASH[:7]} nothing is loaded.",
        f"Broken by commit {HASH.upper()}.",
        f"See {LINK}/commit/{HASH}#diff-12",
        f"See https://github.com/a/fork/pull/3/commits/{HASH}",
        f"<denchmark-link:{LINK}/commit/{HASH}>{HASH[:7]}</denchmark-link>\n introduced this.",
    ],
)
def test_commits_named_by_hash(corpus: Corpus, text: str) -> None:
    assert scored(corpus, text) == {"pkg/loader.py": 1.0}


@pytest.mark.parametrize(
    "text",
    [
        f"x{HASH[:8]} and {HASH[:8]}-1234 and 0x{HASH[:8]}",
        HASH[:6],
        HASH[:10] + "0",
        HASH + "0",
        f"{LINK}/blob/{HASH}/pkg/loader.py#L12",
        f"pkg/loader.py\n\n Lines 12 to 14\n in\n {HASH[:7]}\n",
        f"My project version: master ({HASH[:7]})",
        f"Commit hash:\n {HASH[:7]} {LINK}/commit/{HASH}",
        f"thing 1.0+{HASH[:7]} is installed",
        f"```\n{HASH}\n```",
    ],
)
def test_what_is_no_commit(corpus: Corpus, text: str) -> None:
    assert scored(corpus, text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "After #1757 it fails.",
        "After PR 1757, it fails",
        "(see PR#1757)",
        "GH-1757",
        "pull request #1757.",
        f"{LINK}/pull/1757/files#diff-1",
        f"{LINK}/issues/1757#issuecomment-9",
        f"[#1757]({LINK}/pull/1757)",
        f"<denchmark-link:{LINK}/pull/1757>#1757</denchmark-link>\n broke it",
        "me/my-project#1757",
        "/pull/1757",
    ],
)
def test_commits_named_by_number(corpus: Corpus, text: str) -> None:
    share = pytest.approx(1 / math.sqrt(2))
    assert scored(corpus, text) == {"pkg/trainer.py": share, "pkg/model.py": share}


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/me/another/pull/1757",
        "[#1757](https://github.com/me/another/pull/1757)",
        "<denchmark-link:https://github.com/a/another/issues/1757>a/another#1757</denchmark-link>",
        "#17570 and #1757a and x#1757 and &#1757;",
        "Linux version: #1757-Ubuntu SMP Wed Jan 29",
        "epoch 1757, size 1757",
        "#77",  # the commit names it of another repository
        "#99",  # sweeping
    ],
)
def test_numbers_of_something_else(corpus: Corpus, text: str) -> None:
    assert scored(corpus, text) == {}


def test_without_the_name_of_the_repository_only_plain_numbers_count(corpus: Corpus) -> None:
    linked = "<denchmark-link:https://github.com/me/my-project/pull/{0}>{1}</denchmark-link>"
    assert scored(corpus, linked.format(12, "#12"), repository="") == {"pkg/model.py": 1.0}
    assert scored(corpus, linked.format(12, "this"), repository="") == {}


def test_the_best_commit_and_a_little_of_others(corpus: Corpus) -> None:
    found = scored(corpus, f"{HASH} or #12 or #1757")
    assert found["pkg/loader.py"] == pytest.approx(1.0)
    assert found["pkg/model.py"] == pytest.approx(1 + 0.1 / math.sqrt(2))
    assert found["pkg/trainer.py"] == pytest.approx(1 / math.sqrt(2))


def test_the_named_commit_is_told(corpus: Corpus) -> None:
    query = query_of("It began with #12.", title="It fails")
    told = Referenced().reasons(query, corpus, corpus.row_of["pkg/model.py"])
    assert told[0].text.startswith("the report names commit 000000000 of 2020-09-09: Clean up")
    assert Referenced().reasons(query, corpus, corpus.row_of["pkg/other.py"]) == []


def test_later_commits_are_not_named() -> None:
    corpus = corpus_of(FILES, *CHANGES, before=NOW - 2.5 * DAY)
    assert scored(corpus, HASH) == {}


def test_numbers_of_messages_are_saved(tmp_path: Path, corpus: Corpus) -> None:
    history = corpus.history
    assert list(zip(history.numbered.tolist(), history.numbers.tolist(), strict=True)) == [
        (1, 1757),
        (2, 12),
        (3, 99),
    ]
    save_corpus(corpus, tmp_path, "key")
    loaded = load_corpus(tmp_path, "key")
    assert loaded is not None
    assert scored(loaded, "#12 and #1757") == scored(corpus, "#12 and #1757") != {}


def test_a_corpus_saved_without_numbers_is_built_again(tmp_path: Path, corpus: Corpus) -> None:
    save_corpus(corpus, tmp_path, "key")
    file = tmp_path / "corpus-key"
    content = file.read_bytes()
    assert content.startswith(b"netmend corpus 3\n")
    file.write_bytes(content.replace(b"netmend corpus 3\n", b"netmend corpus 2\n", 1))
    assert load_corpus(tmp_path, "key") is None


def test_numbers_that_messages_name() -> None:
    assert numbers_in('Revert "Load (#12)" (#15)\n\nGH-3, PR #4, #12, a/b#5, &#39; #0') == (12, 15, 3, 4)


def test_an_answer_counts_and_tells_named_commits() -> None:
    report = read_report("It fails\n\nSee https://github.com/me/made/pull/1757 for the beginning.")
    repository = MemoryRepository(FILES, CHANGES, name="made")
    answer = locate(report, repository, opened=NOW, fusion=FixedFusion())
    assert {file.path for file in answer.files[:2]} == {"pkg/trainer.py", "pkg/model.py"}
    told = [reason.text for reason in answer.files[0].reasons]
    assert any(text.startswith("the report names commit") for text in told)
    elsewhere = locate(report, replace(repository, name="other"), opened=NOW, fusion=FixedFusion())
    assert not any("names commit" in one.text for file in elsewhere.files for one in file.reasons)


def test_the_fixed_sum_rises_with_a_named_commit(corpus: Corpus) -> None:
    row = corpus.row_of["pkg/loader.py"]
    named = measure(query_of(f"Since {HASH} it fails"), corpus)
    assert named.scores["referenced"][row] == 1.0
    assert int(np.argmax(named.first)) == row


@pytest.mark.parametrize("text", ["#1 " * 100_000, "#" + "1" * 300_000, "a/" * 150_000, "deadbeef" * 40_000])
def test_long_data_is_read_in_time(text: str) -> None:
    assert len(references_in(text).numbers) <= 1
