"""Edits as repairs make them: arguments that come and go, whatever the layout of the call."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sources import Program

from netmend.program.source import writing
from netmend.program.text import queries
from netmend.repair.apply import applied

COMMENTED = """\
opt(
    model.parameters(),  # all of them (really)
    lr=0.1  # high, I know
)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("opt(a)\n", "opt(a, lr=1)\n"),
        ("opt()\n", "opt(lr=1)\n"),
        ("opt( )\n", "opt(lr=1)\n"),
        ("opt(\n)\n", "opt(lr=1)\n"),
        ("opt(a,)\n", "opt(a, lr=1,)\n"),
        ("opt(a )\n", "opt(a, lr=1 )\n"),
        ("opt(a, b=2)\n", "opt(a, b=2, lr=1)\n"),
        ("opt(a, *b, **c)\n", "opt(a, *b, **c, lr=1)\n"),
        ("opt((a))\n", "opt((a), lr=1)\n"),
        ("opt(((a)), )\n", "opt(((a)), lr=1, )\n"),
        ("opt(b=(2))\n", "opt(b=(2), lr=1)\n"),
        ("opt((a, b))\n", "opt((a, b), lr=1)\n"),
        ("opt(f(g(a)))\n", "opt(f(g(a)), lr=1)\n"),
        ("opt([a, (b)])\n", "opt([a, (b)], lr=1)\n"),
        ("opt(lambda a, b: a)\n", "opt(lambda a, b: a, lr=1)\n"),
        ("opt(')')\n", "opt(')', lr=1)\n"),
        ('opt("é", ")")\n', 'opt("é", ")", lr=1)\n'),
        ("opt(\n    a,\n    b,\n)\n", "opt(\n    a,\n    b, lr=1,\n)\n"),
        ("opt(\n    (\n        a\n    ),\n)\n", "opt(\n    (\n        a\n    ), lr=1,\n)\n"),
        ("opt(\n    (a  # )\n    )\n)\n", "opt(\n    (a  # )\n    ), lr=1\n)\n"),
        (COMMENTED, COMMENTED.replace("lr=0.1", "lr=0.1, lr=1")),
        ("opt(a  # )\n)\n", "opt(a, lr=1  # )\n)\n"),
        ("x = [opt(a) for a in opt(b)]\n", "x = [opt(a, lr=1) for a in opt(b)]\n"),
        ("opt(a)(b)\n", "opt(a, lr=1)(b)\n"),
        ("opt(a).to(b)\n", "opt(a, lr=1).to(b)\n"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_add_argument(tmp_path: Path, before: str, after: str, line_end: str) -> None:
    program = Program(tmp_path, before.replace("\n", line_end))
    edits = writing.add_argument(program.file, program.call("opt"), "lr=1")
    expected = after.replace("\n", line_end)
    if before == COMMENTED:  # the same name twice is no Python; the place is what matters here
        edits = writing.add_argument(program.file, program.call("opt"), "eps=1")
        expected = expected.replace("lr=1", "eps=1")
    assert program.after(edits)["train.py"] == expected


@pytest.mark.parametrize("source", ["opt(  # nothing yet\n)\n", "opt(a for a in b)\n"])
def test_arguments_that_cannot_be_added(tmp_path: Path, source: str) -> None:
    program = Program(tmp_path, source)
    assert writing.add_argument(program.file, program.call("opt"), "lr=1") == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("seq(a)\n", "seq(new, a)\n"),
        ("seq()\n", "seq(new)\n"),
        ("seq((a), b)\n", "seq(new, (a), b)\n"),
        ("seq(\n    a,\n    b,\n)\n", "seq(\n    new,\n    a,\n    b,\n)\n"),
        ("seq(*layers)\n", "seq(new, *layers)\n"),
    ],
)
def test_add_argument_first(tmp_path: Path, before: str, after: str) -> None:
    program = Program(tmp_path, before)
    assert (
        program.after(writing.add_argument_first(program.file, program.call("seq"), "new"))["train.py"]
        == after
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("seq(here(), b)\n", "seq(here(), new, b)\n"),
        ("seq(here())\n", "seq(here(), new)\n"),
        ("seq((here()), b)\n", "seq((here()), new, b)\n"),
        ("x = [(here()), b]\n", "x = [(here()), new, b]\n"),
        ("x = (here(),)\n", "x = (here(), new,)\n"),
        ("seq(\n    here(),  # it\n    b,\n)\n", "seq(\n    here(),\n    new,  # it\n    b,\n)\n"),
        ("seq(\n    a,\n    here()\n)\n", "seq(\n    a,\n    here(),\n    new\n)\n"),
        ('x = {"a": here(), "b": 1}\n', 'x = {"a": here(), new: 1, "b": 1}\n'),
    ],
)
def test_insert_argument_after(tmp_path: Path, before: str, after: str) -> None:
    program = Program(tmp_path, before)
    text = "new: 1" if "{" in before else "new"
    edits = writing.insert_argument_after(program.file, program.call("here"), text)
    assert program.after(edits)["train.py"] == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.sigmoid()\n", "y = x\n"),
        ("y = 2 * (a + b).sigmoid()\n", "y = 2 * (a + b)\n"),
        ("y = net(x).sigmoid().mean()\n", "y = net(x).mean()\n"),
        ("y = (\n    x\n    .sigmoid()\n)\n", "y = (\n    x\n)\n"),
        ("y = (\n    x  # outputs\n    .sigmoid()\n)\n", "y = (\n    x  # outputs\n    \n)\n"),
        ("y = torch.sigmoid ()\n", "y = torch\n"),
    ],
)
def test_unwrap_method(tmp_path: Path, before: str, after: str) -> None:
    program = Program(tmp_path, before)
    assert program.after(writing.unwrap_method(program.file, program.call("sigmoid")))["train.py"] == after


def test_unwrap_call(tmp_path: Path) -> None:
    program = Program(tmp_path, "y = softmax(x, dim=1)\n")
    call = program.call("softmax")
    assert program.after(writing.unwrap_call(program.file, call, call.args[0])) == {"train.py": "y = x\n"}
    assert writing.unwrap_method(program.file, call) == ()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_statements_come_and_go(tmp_path: Path, line_end: str) -> None:
    source = "for x in y:\n    a(x)  # first\n    b(x)\n"
    program = Program(tmp_path, source.replace("\n", line_end))
    file, (loop,) = program.file, program.file.tree.body
    assert isinstance(loop, ast.For)
    first, second = loop.body

    def after(edits: object) -> str:
        text = program.after(edits)["train.py"]  # type: ignore[arg-type]
        assert text.count("\n") == text.count(line_end)
        return text.replace(line_end, "\n")

    assert after(writing.insert_before(file, second, "c(x)\nd(x)")) == source.replace(
        "    b(x)", "    c(x)\n    d(x)\n    b(x)"
    )
    assert after(writing.insert_after(file, first, "c(x)")) == source.replace(
        "# first\n", "# first\n    c(x)\n"
    )
    assert after(writing.insert_after(file, loop, "c()")) == source + "c()\n"
    assert after(writing.delete_statement(file, second)) == source.replace("    b(x)\n", "")


def test_wrap_and_delete(tmp_path: Path) -> None:
    program = Program(tmp_path, "loss(a - b, c, d=1)\nx = [p, q]\n")
    file, call = program.file, program.call("loss")
    assert program.after(writing.wrap(file, call.args[0], "", ".float()"))["train.py"].startswith(
        "loss((a - b).float()"
    )
    assert program.after(writing.delete_argument(file, call, call.args[1]))["train.py"].startswith(
        "loss(a - b, d=1)"
    )
    assert program.after(writing.delete_argument(file, call, call.keywords[0]))["train.py"].startswith(
        "loss(a - b, c)"
    )
    listed = next(node for node in ast.walk(file.tree) if isinstance(node, ast.List))
    assert program.after(writing.delete_element(file, listed, listed.elts[0]))["train.py"].endswith(
        "x = [q]\n"
    )
    assert program.after(writing.replace(file, call.args[0], "z"))["train.py"].startswith("loss(z, c")


def test_edits_that_meet_or_leave_no_python_are_not_carried_out(tmp_path: Path) -> None:
    program = Program(tmp_path, "opt(a)\n")
    call = program.call("opt")
    both = (*writing.replace(program.file, call, "x"), *writing.replace(program.file, call.args[0], "y"))
    assert applied({}, both) is None
    assert applied({}, writing.replace(program.file, call, "x = = y")) is None
    assert applied({}, ()) == {}


NAMED = '''\
class Net:
    """A text."""

    @cached
    def foward(self, é):
        "Another."
        return é.mean(é + 1)
'''


def test_names_and_lines_within_a_file(tmp_path: Path) -> None:
    program = Program(tmp_path, NAMED)
    file, call = program.file, program.call("mean")
    owner = next(node for node in file.tree.body if isinstance(node, ast.ClassDef))
    method = queries.methods(owner)["foward"]
    assert file.text[slice(*file.span(call))] == "é.mean(é + 1)"
    assert [ast.unparse(statement) for statement in queries.without_text(method)] == ["return é.mean(é + 1)"]
    assert isinstance(call.func, ast.Attribute)
    edits = writing.united(
        [
            writing.rename(file, method, "forward"),
            writing.rename(file, call.func, "sum"),
            writing.insert_text(file, call.args[0], "0 + "),
            writing.delete_lines(file, method.lineno - 1, method.lineno - 1),
        ]
    )
    expected = NAMED.replace("foward", "forward").replace("mean(", "sum(0 + ").replace("    @cached\n", "")
    assert program.after(edits)["train.py"] == expected
