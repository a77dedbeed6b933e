"""Baselines on files small enough to compute by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bench.locate.baselines import blia, dnnloc, okapi, vector_space
from bench.locate.baselines.case import Before, Case, Commit, spread
from netmend.locate.postings import Postings, make_postings
from netmend.locate.words import term_number

DAY = 86_400.0


def postings(*files: dict[str, int]) -> Postings:
    terms = [
        (term_number(term), row, count) for row, file in enumerate(files) for term, count in file.items()
    ]
    numbers, rows, counts = zip(*terms, strict=True)
    return make_postings(np.array(numbers, np.uint32), np.array(rows), np.array(counts, float), len(files))


FILES = ({"loss": 3, "train": 1}, {"train": 2}, {"plot": 4, "axis": 4})
CASE = Case(
    body=postings(*FILES),
    classes=postings({"loss": 1}, {"train": 1}, {"plot": 1}),
    structure=(postings({"loss": 1}, {"train": 1}, {"plot": 1}), postings(*FILES)),
    title={"loss": 1},
    description={"train": 1, "unknown": 2},
    before=(),
    commits=(),
    frames=(),
    imported=frozenset(),
    opened=100 * DAY,
)


def test_bm25_by_hand() -> None:
    found = okapi.bm25(CASE.body, {"loss": 2, "unknown": 1}, k1=1.2, b=0.75)
    rarity = math.log1p((3 - 1 + 0.5) / (1 + 0.5))
    norm = 1.2 * (0.25 + 0.75 * 4 / (14 / 3))
    assert found == pytest.approx([2 * rarity * 3 * 2.2 / (3 + norm), 0.0, 0.0])


def test_bluir_adds_title_and_description_over_fields() -> None:
    by_hand = sum(okapi.bm25(f, t, 1.0, 0.5) for t in (CASE.title, CASE.description) for f in CASE.structure)
    assert okapi.bluir(CASE, 1.0, 0.5) == pytest.approx(spread(np.asarray(by_hand)))
    assert np.argmax(okapi.bluir(CASE, 1.0, 0.5)) == 0


def test_cosine_by_hand() -> None:
    rare, common = math.log(3), math.log(3 / 2)
    asked = np.array([rare, common])
    first = np.array([(1 + math.log(3)) * rare, common])
    second = np.array([0.0, (1 + math.log(2)) * common])
    expected = [v @ asked / np.linalg.norm(v) / np.linalg.norm(asked) for v in (first, second)]
    assert vector_space.cosine(CASE.body, {"loss": 1, "train": 1}) == pytest.approx([*expected, 0.0])


def test_long_files_count_more_but_never_one_and_a_half_times() -> None:
    weights = vector_space.long_files(np.array([0.0, 50.0, 100.0]))
    assert weights[0] == 0.5
    assert weights[2] == pytest.approx(1 / (1 + math.exp(-1)))


def test_similar_reports_share_their_likeness_between_the_files_they_changed() -> None:
    alike = Before({"loss": 1, "train": 1}, frozenset({0}), 1, 0.0)
    wide = Before({"loss": 1, "train": 1}, frozenset({1, 2}), 4, 0.0)
    other = Before({"colour": 1}, frozenset({2}), 1, 0.0)
    scores = vector_space.similar_reports(replace(CASE, before=(alike, wide, other)))
    assert scores == pytest.approx([1.0, 0.25, 0.25])
    assert vector_space.similar_reports(CASE).tolist() == [0.0, 0.0, 0.0]


def test_buglocator_mixes_both() -> None:
    reports = (Before({"loss": 1}, frozenset({2}), 1, 0.0), Before({"axis": 1}, frozenset({1}), 1, 0.0))
    scores = vector_space.buglocator(replace(CASE, before=reports))
    assert scores[2] == pytest.approx(0.2)
    assert scores[0] == pytest.approx(0.8)


def test_blia_traces_count_from_the_deepest_frame() -> None:
    case = replace(CASE, frames=(1, 0, 1), imported=frozenset({1, 2}))
    assert blia.traced(case) == pytest.approx([0.5, 1.0, 0.1])


def test_blia_takes_fixing_commits_of_the_last_days_only() -> None:
    commits = (
        Commit(99 * DAY, "Fix loss", (0,)),
        Commit(99 * DAY, "Add feature", (1,)),
        Commit(50 * DAY, "Fix plot", (2,)),
        Commit(101 * DAY, "Fix later", (1,)),
    )
    recent = blia.recent(replace(CASE, commits=commits), 15)
    assert recent == pytest.approx([1 / (1 + math.exp(12 * (1 / 15))), 0.0, 0.0])


def test_blia_gives_nothing_to_a_file_that_shares_no_word() -> None:
    case = replace(CASE, frames=(2,))
    scores = blia.blia(case, blia.Settings(0.2, 0.2, 15))
    assert scores[2] == 0.0
    assert scores[0] > scores[1] > 0.0


def test_dnnloc_features_are_each_files_own() -> None:
    first = Before({"loss": 1, "zebra": 1}, frozenset({0}), 1, 70 * DAY)
    second = Before({"axis": 1}, frozenset({0, 2}), 2, 40 * DAY)
    table = dnnloc.features(replace(CASE, before=(first, second)))
    assert table[1, [1, 3, 4]].tolist() == [0.0, 0.0, 0.0]
    assert table[:, 4].tolist() == [1.0, 0.0, 0.5]
    assert table[2, 3] == pytest.approx((1 / 3) / (1 / 2))  # two months ago against one
    assert table[0, 1] == 1.0


def test_network_learns_which_rows_are_fixed() -> None:
    random = np.random.default_rng(0)
    rows = random.random((600, 5))
    fixed = rows[:, 0] + rows[:, 1] > 1.7
    trained = dnnloc.train(rows, fixed, epochs=30)
    assert trained.scores(rows)[fixed].mean() > trained.scores(rows)[~fixed].mean() + 0.5
