"""A question from report to answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from repository_in_memory import NOW, MemoryRepository, commit

from netmend.errors import UsageError
from netmend.locate.answer import Answer
from netmend.locate.bug_report import read_report
from netmend.locate.cache import FactsCache
from netmend.locate.fusion import FixedFusion
from netmend.locate.session import locate

FILES = {
    "pkg/sampler.py": (
        "class WeightedSampler:\n    def draw(self, weights):\n        total = sum(weights)\n        return total\n"
    ),
    "pkg/trainer.py": "class Trainer:\n    def fit(self, sampler):\n        return sampler.draw([1])\n",
    "pkg/other.py": "VALUE = 1\n",
    "tests/test_sampler.py": "def test_draw():\n    assert WeightedSampler().draw([1]) == 1\n",
}
REPORT = "WeightedSampler.draw ignores weights\n\nAll samples are drawn alike."


def asked(repository: MemoryRepository, text: str = REPORT, **options: object) -> Answer:
    return locate(read_report(text), repository, fusion=FixedFusion(), **options)  # type: ignore[arg-type]


def test_the_answer_carries_its_evidence() -> None:
    changes = (commit(1, 3, "Draw by weights", "pkg/sampler.py"),)
    answer = asked(MemoryRepository(FILES, changes), opened=NOW)
    best = answer.files[0]
    assert best.path == "pkg/sampler.py"
    assert answer.candidates == 3
    assert {"words", "name", "change"} <= {reason.kind for reason in best.reasons}
    assert [reason.weight for reason in best.reasons] == sorted(
        (r.weight for r in best.reasons), reverse=True
    )
    assert best.functions[0].name == "WeightedSampler.draw"
    assert all(one.score >= other.score for one, other in zip(answer.files, answer.files[1:], strict=False))


def test_words_are_listed_again_only_where_they_add_one() -> None:
    best = asked(MemoryRepository(FILES)).files[0]
    lists = [set(reason.words) for reason in best.reasons if reason.kind == "words"]
    assert 1 <= len(lists) <= 2
    assert len(lists) == 1 or not lists[1] <= lists[0]


def test_tests_are_ranked_only_when_asked_for() -> None:
    assert not any(file.path.startswith("tests/") for file in asked(MemoryRepository(FILES)).files)
    with_tests = asked(MemoryRepository(FILES), tests=True)
    assert "tests/test_sampler.py" in {file.path for file in with_tests.files}


def test_no_more_files_than_asked_for() -> None:
    assert len(asked(MemoryRepository(FILES), top=2).files) == 2


def test_the_second_question_reads_nothing_but_the_shown_files(tmp_path: Path) -> None:
    first, second = MemoryRepository(FILES), MemoryRepository(FILES)
    cache = FactsCache(tmp_path)
    one = asked(first, cache=cache, top=1)
    two = asked(second, cache=FactsCache(tmp_path), top=1)
    assert one.files == two.files
    assert len(first.reads) == 3 + 1
    assert len(second.reads) == 1


def test_a_changed_file_is_seen(tmp_path: Path) -> None:
    cache = FactsCache(tmp_path)
    asked(MemoryRepository(FILES), cache=cache)
    changed = MemoryRepository({**FILES, "pkg/other.py": "class UnheardOf:\n    pass\n"})
    answer = asked(changed, text="UnheardOf is wrong", cache=cache)
    assert answer.files[0].path == "pkg/other.py"


def test_later_commits_are_no_evidence() -> None:
    changes = (commit(1, -5, "WeightedSampler draw ignores weights", "pkg/other.py"),)
    answer = asked(MemoryRepository(FILES, changes), opened=NOW)
    other = next(file for file in answer.files if file.path == "pkg/other.py")
    assert not any(reason.kind == "change" for reason in other.reasons)


def test_vendored_code_is_left_out_and_told() -> None:
    files = {**FILES, "third_party/sampler.py": FILES["pkg/sampler.py"]}
    answer = asked(MemoryRepository(files))
    assert answer.candidates == 3
    assert any("third_party (1)" in note for note in answer.notes)
    alone = asked(MemoryRepository({"vendor/sampler.py": FILES["pkg/sampler.py"]}))
    assert alone.candidates == 1


def test_nothing_to_rank() -> None:
    with pytest.raises(UsageError, match="no Python file"):
        asked(MemoryRepository({}))
    with pytest.raises(UsageError, match="--tests"):
        asked(MemoryRepository({"tests/test_a.py": "A = 1\n"}))


def test_content_that_could_not_be_parsed_is_told() -> None:
    answer = asked(MemoryRepository({**FILES, "old.py": 'print "two"\n', "data.py": "\0\1"}))
    assert any("1 file did not parse" in note for note in answer.notes)
    assert any("binary" in note for note in answer.notes)
