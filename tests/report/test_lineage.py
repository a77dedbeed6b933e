"""How the data were made: the steps in order, their rails, and what each did."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.measures.lineage import lineage
from netmend.report.run.lineage import Lineage, lineage_text, rows
from netmend.report.run.page import run_page
from netmend.vocabulary import PreparationFact, Site, Trace


def fact(
    name: str, *takes: str, kind: str = "select", order: int = 0, line: int = 1, **seen: object
) -> PreparationFact:
    return PreparationFact(
        name, f"pandas.{name}", kind, Site("prepare.py", line), order, takes=takes, seen=seen
    )


def shop() -> Trace:
    """Two files are read, one loses rows, both are joined and given to a loader."""
    return trace_of(
        fact("read_csv", kind="read", order=0, line=3, rows=100, columns=4, files=["sales.csv"]),
        fact("read_table", kind="read", order=1, line=4, rows=20, files=["a.tsv", "b.tsv", "c.tsv"]),
        fact("dropna", "read_csv", order=2, line=5, rows=100, rows_after=80),
        fact("merge", "dropna", "read_table", order=3, line=7, rows=80, rows_after=80, alone=0.25, made_missing=0.25, missing_column="size"),
        fact("loader", "merge", kind="loader", order=4, line=9, rows=80),
    )  # fmt: skip


def text_of(trace: Trace, width: int = 80) -> str:
    stream = StringIO()
    Console(file=stream, width=width, no_color=True).print(lineage_text(trace))
    return stream.getvalue()


def test_each_step_comes_after_what_it_takes_from() -> None:
    steps = lineage(shop())
    assert [step.fact.name for step in steps] == ["read_csv", "read_table", "dropna", "merge", "loader"]
    assert steps[3].takes == (1, 2)


def test_rails_join_where_tables_are_joined() -> None:
    assert [line[:5].rstrip() for line in text_of(shop(), 120).splitlines()] == [
        "●",
        "│ ●",
        "● │",
        "●─╯",
        "●",
    ]


def test_what_each_call_did_is_told_in_words() -> None:
    text = " ".join(text_of(shop(), 200).split())
    assert "sales.csv; 100 rows, 4 columns" in text
    assert "a.tsv, b.tsv and others" in text
    assert "100 → 80 rows" in text
    assert "25.0 % of the rows without a partner; 25.0 % of size became missing prepare.py:7" in text


def test_a_narrow_terminal_keeps_the_rails() -> None:
    lines = text_of(shop(), 40).splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert sum("●" in line for line in lines) == 5


def test_a_loader_without_known_origin_is_likely_made_of_what_has_as_many_rows() -> None:
    trace = trace_of(
        fact("dropna", order=0, rows=100, rows_after=80), fact("loader", kind="loader", order=1, rows=80)
    )
    assert lineage(trace)[1].likely == (0,)


def test_the_line_of_a_fault_is_marked() -> None:
    bad = [row.bad for row in rows(shop(), [Site("prepare.py", 7)])]
    assert bad == [False, False, False, True, False]


def test_the_page_shows_it_and_escapes_names() -> None:
    trace = trace_of(fact("read_csv", kind="read", rows=2, files=["<script>.csv"]))
    page = run_page(trace)
    assert "How the data were made" in page
    assert "&lt;script&gt;.csv" in page
    assert "How the data were made" not in run_page(trace_of())


def test_many_branches_stay_within_the_rails() -> None:
    trace = trace_of(
        *(fact(f"read{number}", kind="read", order=number, rows=5) for number in range(30)),
        fact("concat", *(f"read{number}" for number in range(30)), order=30, rows=150),
    )
    assert len(rows(trace)) == 31
    assert Lineage(rows(trace)).rows[30].column == 0
