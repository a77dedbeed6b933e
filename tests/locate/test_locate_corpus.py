"""Arrays of a repository: postings, history, imports, saving and loading."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from repository_in_memory import DAY, NOW, MemoryRepository, commit, corpus_of, query_of

from netmend.locate.cache import FactsCache
from netmend.locate.corpus import Corpus, build_corpus, corpus_key, load_corpus, save_corpus
from netmend.locate.features import features
from netmend.locate.import_graph import ModuleNames
from netmend.locate.parsing import Field
from netmend.locate.postings import make_postings, stable_order
from netmend.locate.words import term_number

FILES = {
    "pkg/__init__.py": "from .loader import Loader\n",
    "pkg/loader.py": "from pkg import model\nclass Loader:\n    def load(self):\n        return 'batch'\n",
    "pkg/model.py": "import os\nclass Model:\n    def forward(self, batch):\n        return batch\n",
    "train.py": "import helper\nfrom pkg.loader import Loader\n",
    "helper.py": "HELP = 1\n",
}
CHANGES = (
    commit(3, 1, "Fix loading of batches", "pkg/loader.py", "tests/test_loader.py"),
    commit(2, 10, "Add model", "pkg/model.py", "pkg/loader.py"),
    commit(1, 20, "Rename everything", *(f"old/{n}.py" for n in range(60)), "pkg/model.py"),
)


def holding(corpus: Corpus, field: Field, term: str) -> dict[str, float]:
    found = corpus.fields[field].find(np.array([term_number(term)], np.uint32))
    return {corpus.paths[row]: count for row, count in zip(found.rows, found.counts, strict=True)}


def test_postings_find_rows_and_add_repeated_ones() -> None:
    postings = make_postings(
        np.array([7, 5, 7, 7], np.uint32), np.array([1, 0, 0, 1]), np.array([1.0, 2.0, 4.0, 8.0]), 3
    )
    found = postings.find(np.array([7, 6, 5], np.uint32))
    assert found.which.tolist() == [0, 0, 2]
    assert found.rows.tolist() == [0, 1, 0]
    assert found.counts.tolist() == [4.0, 9.0, 2.0]
    assert postings.frequency(np.array([7, 6, 5], np.uint32)).tolist() == [2, 0, 1]
    assert postings.lengths.tolist() == [6.0, 9.0, 0.0]


def test_the_fast_order_is_the_stable_one() -> None:
    generator = np.random.default_rng(0)
    keys = generator.integers(0, 50, 1_000).astype(np.uint64) << np.uint64(30)
    assert np.array_equal(stable_order(keys), np.argsort(keys, kind="stable"))
    assert len(stable_order(keys[:0])) == 0


def test_fields_of_files_are_kept_apart() -> None:
    corpus = corpus_of(FILES)
    assert holding(corpus, Field.BODY, "batch") == {"pkg/loader.py": 1.0, "pkg/model.py": 2.0}
    assert holding(corpus, Field.STRINGS, "batch") == {"pkg/loader.py": 1.0}
    assert holding(corpus, Field.CLASS_NAMES, "Loader") == {"pkg/loader.py": 1.0}
    assert holding(corpus, Field.PATH, "pkg").keys() == {p for p in FILES if p.startswith("pkg/")}
    assert holding(corpus, Field.BASENAME, "pkg") == {"pkg/__init__.py": 1.0}


def test_passages_know_their_file() -> None:
    corpus = corpus_of(FILES)
    found = corpus.passages.find(np.array([term_number("forward")], np.uint32))
    assert {corpus.paths[corpus.passage_files[row]] for row in found.rows} == {"pkg/model.py"}


def test_imports_are_resolved_to_files() -> None:
    corpus = corpus_of(FILES)
    edges = {
        (corpus.paths[a], corpus.paths[b])
        for a, b in zip(corpus.imports.importing, corpus.imports.imported, strict=True)
    }
    assert edges == {
        ("pkg/__init__.py", "pkg/loader.py"),
        ("pkg/loader.py", "pkg/model.py"),
        ("train.py", "pkg/loader.py"),
        ("train.py", "helper.py"),
    }


def test_module_names_may_begin_below_a_source_folder() -> None:
    names = ModuleNames(["src/a/b.py", "src/a/os.py", "x/c/d.py", "y/c/d.py"])
    assert names.file_of("a.b") == 0
    assert names.file_of("os") is None
    assert names.file_of("c.d") is None  # two files fit
    assert names.resolve("..b:thing", "src/a/inner/c.py") == 0


def test_history_keeps_candidates_and_subjects() -> None:
    corpus = corpus_of(FILES, *CHANGES)
    assert corpus.history.sizes.tolist() == [2.0, 2.0, 61.0]
    assert corpus.history.fixes.tolist() == [True, False, False]
    assert corpus.history.telling.tolist() == [True, True, False]
    said = holding(corpus, Field.SUBJECTS, "batch")
    assert said == {"pkg/loader.py": pytest.approx(1 / np.sqrt(2))}
    assert holding(corpus, Field.SUBJECTS, "renam") == {}  # a sweeping commit says nothing about a file
    assert corpus.history.latest(corpus.row_of["pkg/model.py"]) == 1
    assert corpus.history.latest(corpus.row_of["helper.py"]) is None


def test_later_commits_do_not_exist() -> None:
    corpus = corpus_of(FILES, *CHANGES, before=NOW - 5 * DAY)
    assert corpus.history.subjects == ("Add model", "Rename everything")
    assert holding(corpus, Field.SUBJECTS, "batch") == {}


def test_only_new_contents_are_read_again(tmp_path: Path) -> None:
    cache = FactsCache(tmp_path)
    first = MemoryRepository(FILES)
    build_corpus(first, first.files(), cache)
    second = MemoryRepository({**FILES, "helper.py": "HELP = 2\n"})
    corpus = build_corpus(second, second.files(), cache)
    assert len(first.reads) == 5
    assert len(second.reads) == corpus.indexed == 1


def test_a_saved_corpus_ranks_the_same(tmp_path: Path) -> None:
    corpus = corpus_of(FILES, *CHANGES)
    save_corpus(corpus, tmp_path, "key")
    loaded = load_corpus(tmp_path, "key")
    assert loaded is not None
    assert (loaded.paths, loaded.blobs, loaded.history.subjects) == (
        corpus.paths,
        corpus.blobs,
        corpus.history.subjects,
    )
    query = query_of("Loader.load gives a wrong batch\n\n```\nreturn 'batch'\n```")
    assert np.array_equal(features(query, loaded).matrix, features(query, corpus).matrix)


def test_a_damaged_saved_corpus_is_not_there(tmp_path: Path) -> None:
    save_corpus(corpus_of(FILES), tmp_path, "key")
    file = tmp_path / "corpus-key"
    whole = file.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"something else" * 100, whole[:100]):
        file.write_bytes(content)
        assert load_corpus(tmp_path, "key") is None
    assert load_corpus(tmp_path, "other") is None


def test_old_saved_corpora_are_dropped(tmp_path: Path) -> None:
    corpus = corpus_of({"a.py": "A = 1\n"})
    for number in range(5):
        save_corpus(corpus, tmp_path, f"{number}")
    assert len(list(tmp_path.glob("corpus-*"))) == 3


def test_the_key_tells_files_and_history_apart() -> None:
    files = MemoryRepository(FILES).files()
    changed = (dataclasses.replace(files[0], blob="other"), *files[1:])
    keys = {
        corpus_key(files, "h", None, 10),
        corpus_key(changed, "h", None, 10),
        corpus_key(files, "g", None, 10),
        corpus_key(files, "h", 5.0, 10),
    }
    assert len(keys) == 4


def test_an_empty_repository_gives_an_empty_corpus() -> None:
    corpus = corpus_of({})
    assert features(query_of("anything at all"), corpus).matrix.shape[0] == 0
