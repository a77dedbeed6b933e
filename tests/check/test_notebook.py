"""Notebooks: places in cells, magics passed over, and everything that is not mended stays byte for byte."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netmend.check.magics import mask, unmask
from netmend.check.notebook import Notebook, cell_source, read_notebook
from netmend.vocabulary.finding import Edit, Finding, Fix, Related


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
        **more,
    }


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": [source]}


def raw(*cells: dict[str, Any], indent: int | str | None = 1, **more: Any) -> str:
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}
    return json.dumps(data, indent=indent, ensure_ascii=False) + "\n"


def read(source: str) -> Notebook:
    notebook = read_notebook(source)
    assert isinstance(notebook, Notebook), notebook
    return notebook


def line_with(notebook: Notebook, words: str) -> int:
    return next(number for number, line in enumerate(notebook.text.split("\n"), start=1) if words in line)


def test_lines_are_found_again_in_their_cells() -> None:
    notebook = read(
        raw(
            text("# Title"),
            code(["import torch\n", "a = 1"]),
            text("more"),
            code("b = 2\n\nc = 3\n"),
            code(""),
        )
    )
    assert notebook.cells == (2, 4, 5)
    assert notebook.place(line_with(notebook, "import torch")) == (2, 1)
    assert notebook.place(line_with(notebook, "a = 1")) == (2, 2)
    assert notebook.place(line_with(notebook, "b = 2")) == (4, 1)
    assert notebook.place(line_with(notebook, "c = 3")) == (4, 3)
    ast.parse(notebook.text)


def test_format_3_has_worksheets_and_input() -> None:
    cell = {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python", "outputs": []}
    source = json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [text("t"), cell]}]})
    notebook = read(source)
    assert notebook.place(line_with(notebook, "y = 2")) == (2, 2)
    changed = notebook.with_text(notebook.text.replace("x = 1", "x = 5"))
    assert changed is not None
    assert json.loads(changed)["worksheets"][0]["cells"][1]["input"] == ["x = 5\n", "y = 2"]


MAGICS = """\
%matplotlib inline
!pip install \\
    torch
import torch
if torch.cuda.is_available():
    !nvidia-smi
    device = "cuda"
files = !ls
?torch.nn
model.fit??
%time model.fit(x)
share = (10
  % 3)
note = '''
%not a magic
'''
"""


def test_magics_become_statements_of_the_same_lines() -> None:
    kept: list[str] = []
    masked = mask(MAGICS, kept)
    ast.parse(masked)
    assert masked.count("\n") == MAGICS.count("\n")
    for stays in ("import torch", '    device = "cuda"', "  % 3)", "%not a magic"):
        assert stays in masked.split("\n")
    for goes in ("nvidia-smi", "pip", "ls", "model.fit"):
        assert goes not in masked
    assert unmask(masked, tuple(kept)) == MAGICS


@pytest.mark.parametrize(
    ("source", "python_left"),
    [
        ("%%bash\nls -l | grep (\n", False),
        ("%%html\n<b>\n", False),
        ("%%time\nx = 1\n", True),
        ("%%capture out\nx = 1\n", True),
        ("\n%%writefile train.py\nimport torch\n", False),
    ],
)
def test_cell_magics(source: str, python_left: bool) -> None:
    kept: list[str] = []
    masked = mask(source, kept)
    ast.parse(masked)
    assert ("x = 1" in masked) == python_left
    assert unmask(masked, tuple(kept)) == source


@given(
    st.lists(
        st.sampled_from(
            ["%x", "!ls \\", "x = 1", "    y", "'''", '"', "(", ")", "a?", "%%bash", "", "# c", "\\"]
        )
    )
)
def test_masking_can_be_undone(lines: list[str]) -> None:
    source = "\n".join(lines)
    kept: list[str] = []
    masked = mask(source, kept)
    assert masked.count("\n") == source.count("\n")
    assert unmask(masked, tuple(kept)) == source


def test_a_broken_cell_does_not_cost_the_others() -> None:
    notebook = read(raw(code("x = 1"), code("ok = 1\nfor in:\n"), code("y = 2")))
    assert notebook.broken == ("cell 2, line 2: invalid syntax",)
    assert "x = 1" in notebook.text and "y = 2" in notebook.text and "for in" not in notebook.text
    changed = notebook.with_text(notebook.text.replace("y = 2", "y = 3"))
    assert changed is not None and json.loads(changed)["cells"][1]["source"] == "ok = 1\nfor in:\n"


def test_other_languages_are_left_alone() -> None:
    assert read(raw(code("library(ggplot2)"), metadata={"kernelspec": {"language": "R"}})).cells == ()
    assert read(raw(code("x = 1"), metadata={"language_info": {"name": "python"}})).cells == (1,)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "line 1: not a notebook: Expecting value"),
        ("{", "line 1: not a notebook: Expecting property name"),
        ("[]", "not a notebook: it has no format version (nbformat)"),
        ("{}", "not a notebook: it has no format version (nbformat)"),
        ('{"nbformat": 9}', "notebook format 9 is not known; formats 3 and 4 are read"),
        ('{"nbformat": 4, "cells": 3}', "not a notebook: its cells are not a list"),
        ('{"nbformat": 3, "worksheets": {}}', "not a notebook: its cells are not a list"),
        ("[" * 100_000, "not a notebook: "),
    ],
)
def test_what_is_no_notebook_is_said(source: str, message: str) -> None:
    problem = read_notebook(source)
    assert isinstance(problem, str) and problem.startswith(message) and "\n" not in problem


@pytest.mark.parametrize("cell", [None, 3, {}, {"cell_type": "code"}, code(3), code([1, 2]), code([])])  # type: ignore[arg-type,list-item]
def test_odd_cells_are_passed_over(cell: Any) -> None:
    notebook = read(raw(cell, code("x = 1")))
    assert notebook.place(line_with(notebook, "x = 1")) == (2, 1)


@pytest.mark.parametrize("indent", [1, 2, "\t", None])
@pytest.mark.parametrize("ending", ["\n", "", "\r\n"])
def test_only_the_mended_cell_changes(indent: int | str | None, ending: str) -> None:
    picture = {
        "data": {"image/png": "iVBORw0KGgo=\n", "n": 1e-05},
        "metadata": {},
        "output_type": "display_data",
    }
    source = raw(
        text("Übung"), code(["x = 1\n", "%magic"], outputs=[picture]), code("y = 'é'"), indent=indent
    )
    source = source.rstrip("\n").replace("\n", "\r\n" if ending == "\r\n" else "\n") + ending
    notebook = read(source)
    assert notebook.with_text(notebook.text) == source
    changed = notebook.with_text(notebook.text.replace("x = 1", "x = 1\nz = 2"))
    assert changed is not None
    data, before = json.loads(changed), json.loads(source)
    assert data["cells"][1]["source"] == ["x = 1\n", "z = 2\n", "%magic"]
    data["cells"][1]["source"] = before["cells"][1]["source"]
    assert data == before and "1e-05" in changed
    assert len(set(source.splitlines()) - set(changed.splitlines())) <= 1


def test_a_text_whose_cells_or_magics_are_gone_is_refused() -> None:
    notebook = read(raw(code("%magic"), code("x = 1")))
    assert notebook.with_text(notebook.text.replace("# netmend-cell 2\n", "")) is None
    assert notebook.with_text("x = 1") is None
    first = notebook.text.split("\n")[1]
    assert notebook.with_text(notebook.text.replace(first, "x")) is None


def test_findings_and_their_fixes_move_into_cells() -> None:
    notebook = read(raw(text("t"), code("a = 1\nb = 2"), code("c = 3")))
    b, c = line_with(notebook, "b = 2"), line_with(notebook, "c = 3")
    fix = Fix("Change", (Edit(b, 4, b, 5, "3"),))
    found = Finding(
        "S1", "", "m", "n.ipynb", b, 0, b, 5, fix, (Related("here", "n.ipynb", c), Related("r", "o.py", 9))
    )
    placed = notebook.placed(found, "n.ipynb")
    assert (placed.cell, placed.line, placed.end_line, placed.column) == (2, 2, 2, 0)
    assert placed.fix is not None and placed.fix.edits == (Edit(2, 4, 2, 5, "3"),)
    assert [place.line for place in placed.related] == [1, 9]
    across = Finding("S1", "", "m", "n.ipynb", b, 0, c, 5, Fix("Both", (Edit(b, 0, c, 0, ""),)))
    assert notebook.placed(across, "n.ipynb").fix is None
    assert notebook.placed(across, "n.ipynb").end_line == 2
    assert notebook.placed(Finding("S1", "", "m", "other.py", 7, 0, 7, 1), "n.ipynb").line == 7


def test_the_source_of_one_cell() -> None:
    source = raw(text("t"), code(["a\n", "b"]))
    assert cell_source(source, 2) == "a\nb"
    assert cell_source(source, 7) == cell_source("no notebook", 1) == ""
