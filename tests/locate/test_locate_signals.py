"""Each signal speaks for the file that it should, and says why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from repository_in_memory import DAY, NOW, commit, corpus_of, query_of

from netmend.locate.corpus import Corpus
from netmend.locate.parsing import Field
from netmend.locate.query import EarlierReport, make_query
from netmend.locate.signals import SIGNALS, SPREADING
from netmend.locate.signals.history import (
    Age,
    ChangedTogether,
    Churn,
    Imports,
    Recency,
    ReportedOften,
    SameFolder,
    SimilarCommits,
    SimilarReports,
)
from netmend.locate.signals.paths import DefinedNames, FileName, FolderWords, TitleComponent, match_path
from netmend.locate.signals.reported import (
    Executed,
    ImportedByTrace,
    Innermost,
    ModuleMention,
    PathMention,
    Tag,
    Trace,
)
from netmend.locate.signals.texts import BestPassages, Lexical, Quoted, bm25
from netmend.locate.words import count_words

FILES = {
    "pkg/__init__.py": "from pkg.data.loader import Loader\n",
    "pkg/data/loader.py": (
        "import torch\n\nclass Loader:\n    def collate_fn(self, samples):\n"
        "        batch = torch.stack(samples)\n        return batch\n"
    ),
    "pkg/data/utils.py": "def shuffle_rows(table):\n    return table.sample(frac=1.0)\n",
    "pkg/model.py": (
        "from pkg.data import loader\n\nclass Model:\n    def forward(self, batch):\n"
        '        raise ValueError(f"expected a batch of size {n} but got another")\n'
    ),
    "pkg/utils.py": "def forward(x):\n    return x\n",
    "examples/model.py": "import pkg\npkg.Model().forward(1)\n",
}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_of(FILES)


def best(corpus: Corpus, scores: np.ndarray) -> str:
    assert scores.max() > 0
    return corpus.paths[int(np.argmax(scores))]


def positive(corpus: Corpus, scores: np.ndarray) -> set[str]:
    return {corpus.paths[row] for row in np.flatnonzero(scores > 0)}


def test_bm25_by_hand() -> None:
    corpus = corpus_of({"a.py": "alpha alpha beta", "b.py": "beta gamma", "c.py": "gamma"})
    scores = bm25(corpus.fields[Field.BODY], {"alpha": 1.0, "beta": 1.0}, 0.75, 1.2, raw=True)
    rare, common = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    norm = 1.2 * (0.25 + 0.75 * 3 / 2)
    expected = rare * 2 * 2.2 / (2 + norm) + common * 2.2 / (1 + norm)
    assert scores[0] == pytest.approx(expected)
    assert scores[2] == 0.0


def test_words_that_most_reports_hold_say_little() -> None:
    corpus = corpus_of({"a.py": "reproduce = 1", "b.py": "zirconium = 1", "c.py": "other = 1"})
    bag = {"reproduc": 1.0, "zirconium": 1.0}
    plain = bm25(corpus.fields[Field.BODY], bag, raw=True)
    weighed = bm25(corpus.fields[Field.BODY], bag)
    assert plain[0] == pytest.approx(plain[1])
    assert weighed[0] < 0.6 * weighed[1]


def test_repeated_words_are_damped() -> None:
    corpus = corpus_of({"a.py": "zirconium = 1", "b.py": "other = 1"})
    once = bm25(corpus.fields[Field.BODY], {"zirconium": 1.0})[0]
    often = bm25(corpus.fields[Field.BODY], {"zirconium": 16.0})[0]
    assert often == pytest.approx(8 * once)


def test_words_of_the_title_in_class_names(corpus: Corpus) -> None:
    signal = Lexical(Field.CLASSES, "title")
    query = query_of("It fails.", title="loader is broken")
    assert positive(corpus, signal.scores(query, corpus)) == {"pkg/data/loader.py"}
    told = signal.reasons(query, corpus, corpus.row_of["pkg/data/loader.py"])
    assert told[0].text == "loader in names of classes"
    assert signal.reasons(query, corpus, corpus.row_of["pkg/utils.py"]) == []


def test_the_best_function_counts_not_the_whole_file() -> None:
    filler = "\n".join(f"def f{n}():\n    return other_thing_{n}\n" for n in range(200))
    corpus = corpus_of(
        {
            "long.py": filler + "\ndef target():\n    return resume(checkpoint, optimizer)\n",
            "short.py": "def a():\n    return checkpoint\n\ndef b():\n    return optimizer\n\ndef c():\n    resume()\n",
        }
    )
    query = query_of("resume checkpoint optimizer")
    assert best(corpus, Lexical(Field.BODY, "all").scores(query, corpus)) == "short.py"
    assert best(corpus, BestPassages("all").scores(query, corpus)) == "long.py"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("/home/me/pkg/data/utils.py", {"pkg/data/utils.py"}),
        ("C:\\work\\pkg\\data\\utils.py", {"pkg/data/utils.py"}),
        ("/usr/lib/python3.7/site-packages/pkg/utils.py", {"pkg/utils.py"}),
        ("/usr/lib/python3.7/site-packages/other/utils.py", set()),
        ("/usr/lib/python3.7/utils.py", set()),
        ("utils.py", {"pkg/data/utils.py", "pkg/utils.py"}),
        ("./pkg/model.py", {"pkg/model.py"}),
        ("nothing.py", set()),
        ("", set()),
    ],
)
def test_printed_paths_mean_files(corpus: Corpus, printed: str, expected: set[str]) -> None:
    assert {corpus.paths[row] for row in match_path(corpus, printed).rows} == expected


TRACE = """It crashes

Traceback (most recent call last):
  File "/home/me/train.py", line 3, in <module>
    model(loader)
  File "/usr/lib/python3/site-packages/pkg/model.py", line 5, in forward
    raise ValueError("expected")
  File "/usr/lib/python3/site-packages/pkg/data/loader.py", line 5, in collate_fn
    batch = torch.stack(samples)
  File "/usr/lib/python3/site-packages/torch/functional.py", line 9, in stack
    return _stack(x)
RuntimeError: stack expects each tensor to be equal size
"""


def test_frames_nearer_to_the_failure_count_more(corpus: Corpus) -> None:
    query = query_of(TRACE)
    scores = Trace().scores(query, corpus)
    assert scores[corpus.row_of["pkg/data/loader.py"]] == 1.0
    assert 0 < scores[corpus.row_of["pkg/model.py"]] < 0.5
    assert positive(corpus, scores) == {"pkg/data/loader.py", "pkg/model.py"}
    told = Trace().reasons(query, corpus, corpus.row_of["pkg/data/loader.py"])
    assert (told[0].text, told[0].line) == ("innermost frame of the stack trace in collate_fn", 5)


def test_the_printed_line_tells_files_of_one_name_apart() -> None:
    corpus = corpus_of({"a/run.py": "result = engine.start(1)\n", "b/run.py": "result = engine.stop(2)\n"})
    text = 'Traceback (most recent call last):\n  File "run.py", line 1, in f\n    result = engine.stop(2)\nOSError: x'
    assert positive(corpus, Trace().scores(query_of(text), corpus)) == {"b/run.py"}


def test_named_paths(corpus: Corpus) -> None:
    query = query_of("See pkg/data/utils.py for the reason.", title="Wrong rows")
    assert positive(corpus, PathMention().scores(query, corpus)) == {"pkg/data/utils.py"}
    bare = PathMention().scores(query_of("utils.py is wrong"), corpus)
    assert bare[corpus.row_of["pkg/utils.py"]] == bare[corpus.row_of["pkg/data/utils.py"]] < 1.0


def test_imports_in_the_report_lead_to_the_definition(corpus: Corpus) -> None:
    query = query_of("```python\nfrom pkg import Loader\nLoader()\n```", title="Cannot load")
    scores = ModuleMention().scores(query, corpus)
    assert best(corpus, scores) == "pkg/data/loader.py"
    assert scores[corpus.row_of["pkg/__init__.py"]] < 1.0


@pytest.mark.parametrize("title", ["[data] rows are lost", "data: rows are lost"])
def test_tags_of_titles_name_folders(corpus: Corpus, title: str) -> None:
    scores = Tag().scores(query_of("text", title=title), corpus)
    assert positive(corpus, scores) == {"pkg/data/loader.py", "pkg/data/utils.py"}
    assert not Tag().scores(query_of("text", title="rows are lost in data"), corpus).any()


def test_rarely_defined_names_count_more(corpus: Corpus) -> None:
    signal = DefinedNames(Field.NAMES, "all")
    scores = signal.scores(query_of("collate_fn and forward are called"), corpus)
    assert best(corpus, scores) == "pkg/data/loader.py"
    assert scores[corpus.row_of["pkg/model.py"]] > 0
    told = signal.reasons(query_of("collate_fn fails"), corpus, corpus.row_of["pkg/data/loader.py"])
    assert told[0].text == "defines collate_fn, which the report names"


def test_messages_that_a_file_can_print(corpus: Corpus) -> None:
    signal = Quoted("message", Field.SHINGLES, "messages")
    query = query_of(
        "Traceback (most recent call last):\nValueError: expected a batch of size 3 but got another"
    )
    assert positive(corpus, signal.scores(query, corpus)) == {"pkg/model.py"}
    told = signal.reasons(query, corpus, corpus.row_of["pkg/model.py"])
    assert "expected batch of size" in told[0].text


def test_lines_of_code_that_the_report_shows(corpus: Corpus) -> None:
    signal = Quoted("quoted_code", Field.LINES, "lines")
    query = query_of("This is wrong:\n```python\nreturn table.sample( frac=1.0 )\n```")
    assert positive(corpus, signal.scores(query, corpus)) == {"pkg/data/utils.py"}


CHANGES = (
    commit(4, 2, "Fix shuffling of rows", "pkg/data/utils.py"),
    commit(3, 50, "Load batches", "pkg/data/loader.py", "pkg/model.py"),
    commit(2, 60, "Load batches again", "pkg/data/loader.py", "pkg/model.py"),
    commit(1, 70, "Load faster", "pkg/data/loader.py"),
)


def test_recent_changes_and_churn() -> None:
    corpus = corpus_of(FILES, *CHANGES)
    query = query_of("anything")
    recent = Recency(30.0).scores(query, corpus)
    assert recent[corpus.row_of["pkg/data/utils.py"]] == pytest.approx(1.5 * math.exp(-2 / 30))
    assert best(corpus, Churn().scores(query, corpus)) == "pkg/data/loader.py"
    assert positive(corpus, Recency(30.0, only_fixes=True).scores(query, corpus)) == {"pkg/data/utils.py"}
    told = Recency(30.0).reasons(query, corpus, corpus.row_of["pkg/data/utils.py"])
    assert "Fix shuffling of rows" in told[0].text and "2020-09-11" in told[0].text


def test_commits_that_speak_of_the_same() -> None:
    corpus = corpus_of(FILES, *CHANGES)
    query = query_of("rows are not shuffled")
    assert best(corpus, SimilarCommits().scores(query, corpus)) == "pkg/data/utils.py"
    told = SimilarCommits().reasons(query, corpus, corpus.row_of["pkg/data/utils.py"])
    assert "Fix shuffling of rows" in told[0].text
    assert SimilarCommits().reasons(query, corpus, corpus.row_of["pkg/utils.py"]) == []


def test_files_of_similar_earlier_reports(corpus: Corpus) -> None:
    earlier = (
        EarlierReport(count_words(["rows are shuffled wrongly"]), ("pkg/data/utils.py",), NOW - DAY),
        EarlierReport(count_words(["model does not learn"]), ("pkg/model.py", "gone.py"), NOW - DAY),
    )
    query = query_of("shuffled rows are lost", earlier=earlier)
    assert best(corpus, SimilarReports().scores(query, corpus)) == "pkg/data/utils.py"
    assert ReportedOften().scores(query, corpus)[corpus.row_of["pkg/model.py"]] == 0.5


def test_executed_files_in_their_order(corpus: Corpus) -> None:
    query = make_query(query_of("x").report, executed=("pkg/model.py", "pkg/data/loader.py", "elsewhere.py"))
    scores = Executed().scores(query, corpus)
    assert scores[corpus.row_of["pkg/model.py"]] == 1.0
    assert scores[corpus.row_of["pkg/data/loader.py"]] == 0.5
    assert np.count_nonzero(scores) == 2


def test_several_good_functions_add_up(corpus: Corpus) -> None:
    made = corpus_of(
        {
            "one.py": "def a():\n    return checkpoint\n",
            "many.py": "".join(f"def f{n}():\n    return checkpoint\n\n" for n in range(5)),
        }
    )
    query = query_of("checkpoint")
    single = BestPassages("all").scores(query, made)
    three = BestPassages("all", most=3).scores(query, made)
    one, many = made.row_of["one.py"], made.row_of["many.py"]
    assert three[one] == pytest.approx(single[one])
    assert three[many] == pytest.approx(3 * single[many])
    assert BestPassages("all", most=3).scores(query_of("x"), corpus_of({})).shape == (0,)


def test_words_of_a_folder_speak_for_all_its_files(corpus: Corpus) -> None:
    query = query_of("text", title="shuffle rows of the table")
    scores = FolderWords("title").scores(query, corpus)
    assert positive(corpus, scores) == {"pkg/data/loader.py", "pkg/data/utils.py"}
    shallow = FolderWords("title", depth=1).scores(query, corpus)
    assert positive(corpus, shallow) == {path for path in FILES if path.startswith("pkg/")}


def test_names_of_files_and_folders_as_words(corpus: Corpus) -> None:
    query = query_of("The utils are wrong", title="Loader in data fails")
    assert positive(corpus, FileName("title").scores(query, corpus)) == {"pkg/data/loader.py"}
    everywhere = FileName("all").scores(query, corpus)
    assert everywhere[corpus.row_of["pkg/utils.py"]] == 0.5  # two files are called so
    parts = TitleComponent().scores(query, corpus)
    assert parts[corpus.row_of["pkg/data/loader.py"]] > parts[corpus.row_of["pkg/data/utils.py"]] > 0
    assert parts[corpus.row_of["pkg/utils.py"]] == 0


def test_names_that_code_in_the_report_calls(corpus: Corpus) -> None:
    query = query_of("collate_fn is mentioned\n\n```python\nshuffle_rows(table)\n```", title="Wrong")
    scores = DefinedNames(Field.NAMES, "called").scores(query, corpus)
    assert positive(corpus, scores) == {"pkg/data/utils.py"}


def test_the_innermost_frame_alone_and_what_the_stack_imports(corpus: Corpus) -> None:
    query = query_of(TRACE)
    assert positive(corpus, Innermost().scores(query, corpus)) == {"pkg/data/loader.py"}
    assert positive(corpus, ImportedByTrace().scores(query, corpus)) == {"pkg/data/loader.py"}


def test_ages_of_files() -> None:
    corpus = corpus_of(FILES, *CHANGES)
    query = query_of("anything")
    new = Age("new", 70.0, first=True).scores(query, corpus)
    assert new[corpus.row_of["pkg/data/loader.py"]] == pytest.approx(0.5)
    touched = Age("touched", 50.0, first=False).scores(query, corpus)
    assert touched[corpus.row_of["pkg/data/loader.py"]] == pytest.approx(0.5)
    assert touched[corpus.row_of["pkg/utils.py"]] == 0.0


def test_whole_messages_of_commits_and_the_best_commit() -> None:
    change = replace(CHANGES[0], subject="Clean up", body="Rows were shuffled twice.")
    corpus = corpus_of(FILES, change, *CHANGES[1:])
    query = query_of("rows are shuffled")
    assert not SimilarCommits("all").scores(query, corpus).any()
    assert best(corpus, SimilarCommits("all", messages=True).scores(query, corpus)) == "pkg/data/utils.py"
    loading = query_of("load batches")
    row = corpus.row_of["pkg/data/loader.py"]
    assert (
        SimilarCommits("all", best=True).scores(loading, corpus)[row]
        < SimilarCommits("all").scores(loading, corpus)[row]
    )


def test_late_reports_count_more(corpus: Corpus) -> None:
    earlier = (
        EarlierReport({}, ("pkg/model.py",), NOW - 60 * DAY),
        EarlierReport({}, ("pkg/utils.py",), NOW),
    )
    scores = ReportedOften(days=60.0).scores(query_of("x", earlier=earlier), corpus)
    assert scores[corpus.row_of["pkg/model.py"]] == pytest.approx(math.exp(-1))
    assert scores[corpus.row_of["pkg/utils.py"]] == pytest.approx(1.0)


def test_neighbours_of_the_first() -> None:
    corpus = corpus_of(FILES, *CHANGES)
    first = np.zeros(corpus.size)
    first[corpus.row_of["pkg/model.py"]] = 1.0
    query = query_of("anything")
    folder = SameFolder().scores(query, corpus, first)
    assert positive(corpus, folder) == {"pkg/__init__.py", "pkg/utils.py"}  # not the file itself
    imported = Imports("imported_by", False).scores(query, corpus, first)
    assert positive(corpus, imported) == {"pkg/data/loader.py"}
    together = ChangedTogether().scores(query, corpus, first)
    assert together[corpus.row_of["pkg/data/loader.py"]] == pytest.approx(2 / 4)
    assert positive(corpus, together) == {"pkg/data/loader.py"}


@pytest.mark.parametrize("text", ["???", "程序崩溃", "x" * 10_000, TRACE])
def test_every_signal_gives_a_finite_number_for_every_file(text: str) -> None:
    for files in (FILES, {}, {"only.py": ""}):
        corpus = corpus_of(files, *CHANGES)
        query = query_of(text)
        for signal in SIGNALS:
            scores = signal.scores(query, corpus)
            assert scores.shape == (corpus.size,), signal.name
            assert np.isfinite(scores).all(), signal.name
        for spreading in SPREADING:
            scores = spreading.scores(query, corpus, np.ones(corpus.size))
            assert scores.shape == (corpus.size,) and np.isfinite(scores).all(), spreading.name


def test_names_of_signals_are_distinct() -> None:
    names = [signal.name for signal in SIGNALS] + [spreading.name for spreading in SPREADING]
    assert len(set(names)) == len(names)
