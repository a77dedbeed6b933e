"""Comments that silence: on the statement they stand in, found by tokens, and told when they do nothing."""

from __future__ import annotations

import pytest

from netmend.check.comments import suppressions
from netmend.check.fix import apply
from netmend.check.select import Known, Selection, choose
from netmend.check.suppress import complaints, settle
from netmend.vocabulary.finding import Finding

KNOWN = Known(
    {"S001": "", "S002": "", "S101": "LOOP-ZERO-GRAD", "S201": "LYR-SOFTMAX-EXTRA", "S301": "A", "S302": "B"},
    frozenset(("S302",)),
    {"S0": "suppressions", "S1": "loop", "S2": "loss and head", "S3": "model"},
)
ALL = choose(KNOWN)


def at(line: int, code: str = "S201", end_line: int = 0) -> Finding:
    return Finding(code, "", "", "f.py", line, 0, end_line or line, 1)


def left(
    text: str, *findings: Finding, selection: Selection = ALL, off: tuple[str, ...] = ()
) -> list[Finding]:
    comments = suppressions(text, KNOWN, selection, frozenset(off))
    return settle(findings, {"f.py": comments}, ("f.py",), True)


def codes(text: str, *findings: Finding, selection: Selection = ALL, off: tuple[str, ...] = ()) -> list[str]:
    return [finding.code for finding in left(text, *findings, selection=selection, off=off)]


@pytest.mark.parametrize(
    "comment",
    [
        "# netmend: ignore[S201]", "#netmend:ignore[S201]", "# netmend: ignore", "# netmend: ignore[S2]",
        "# netmend: ignore[S301,S201]", "# netmend: ignore[ s201 , S1 ]", "# noqa: E501  # netmend: ignore[S201]",
        "# netmend: ignore[loss and head]", "# netmend: ignore[LYR-SOFTMAX-EXTRA]", "# netmend: ignore[ALL]",
        "# netmend: ignore[S201] - the scores are wanted so", "# Netmend: Ignore[S201]",
    ],
)  # fmt: skip
def test_ways_to_write_it(comment: str) -> None:
    assert "S201" not in codes(f"x = f(y)  {comment}\n", at(1))


@pytest.mark.parametrize(
    "line",
    [
        "x = f(y)  # netmend: ignore[S101]", "x = '# netmend: ignore[S201]'", "x = f(y)  # netmend: ignored",
        "x = f(y)  # netmend: ignore-next", "x = f(y)  # ignore[S201]", "x = f(y)  # netmend: ignore[]",
        '"""\n# netmend: ignore[S201]\n"""',
    ],
)  # fmt: skip
def test_what_is_not_meant(line: str) -> None:
    assert "S201" in codes(f"{line}\n", at(1))


MANY_LINES = """\
loss = criterion(
    softmax(x),  # netmend: ignore[S201]
    y,
)
"""


@pytest.mark.parametrize("line", [1, 2, 3, 4])
def test_it_counts_for_the_whole_statement(line: int) -> None:
    assert codes(MANY_LINES, at(line)) == []
    for place in (1, 3, 4):
        lines = MANY_LINES.replace("  # netmend: ignore[S201]", "").split("\n")
        lines[place - 1] += "  # netmend: ignore[S201]"
        assert codes("\n".join(lines), at(line)) == []


def test_it_does_not_reach_into_the_body_or_out_of_it() -> None:
    text = "for x in y:  # netmend: ignore[S101]\n    a()\n    b()\n"
    assert codes(text, at(1, "S101", 3)) == []
    assert codes(text, at(3, "S101")) == ["S101", "S001"]
    text = "for x in y:\n    a()  # netmend: ignore[S101]\n    b()\n"
    assert codes(text, at(1, "S101", 3)) == ["S101", "S001"]


def test_alone_on_its_line_it_counts_for_the_statement_below() -> None:
    text = "a()\n# netmend: ignore[S201]\n\nb(\n    1,\n)\nc()\n"
    assert codes(text, at(5)) == []
    assert codes(text, at(1)) == ["S201", "S001"]
    assert codes(text, at(7)) == ["S201", "S001"]


def test_inside_of_brackets_alone_on_its_line_it_counts_for_the_statement_around() -> None:
    assert codes("a(\n    # netmend: ignore[S201]\n    1,\n)\nb()\n", at(1)) == []


def test_a_whole_file() -> None:
    assert codes("# netmend: ignore-file[S2]\na()\nb()\n", at(2), at(3), at(3, "S101")) == ["S101"]
    assert codes("a()\n# netmend: ignore-file\n", at(1), at(1, "S101")) == []


def test_unused_comments_are_found() -> None:
    (found,) = left("a()\nb()  # netmend: ignore[S201]\n", at(1, "S101"))[1:]
    assert (found.code, found.line, found.column, found.cause) == ("S001", 2, 5, "")
    assert "There is no S201 on this line" in found.message
    (found,) = left("# netmend: ignore-file\n")
    assert found.code == "S001" and "in this file" in found.message


@pytest.mark.parametrize(
    ("select", "off", "text", "told"),
    [
        (["S1", "S0"], (), "# netmend: ignore[S201]", False),  # not on, so nobody knows
        (["S201", "S0"], (), "# netmend: ignore[S201]", True),
        (["S201", "S0"], (), "# netmend: ignore", False),
        (["S201", "S0"], (), "# netmend: ignore[S2]", True),
        (["S301", "S0"], (), "# netmend: ignore[S3]", True),  # S302 is advisory: never expected
        ((), (), "# netmend: ignore[S302]", False),
        ((), ("S201",), "# netmend: ignore[S201]", False),
        ((), (), "# netmend: ignore-file[S001]\n# netmend: ignore[S201]", False),
    ],
)
def test_what_is_switched_off_is_not_called_unused(
    select: list[str], off: tuple[str, ...], text: str, told: bool
) -> None:
    assert codes(text + "\nx = 1\n", selection=choose(KNOWN, select), off=off) == (["S001"] if told else [])


def test_nothing_is_told_about_files_that_were_only_followed() -> None:
    comments = suppressions("a()  # netmend: ignore[S201]\n", KNOWN, ALL)
    assert settle([], {"f.py": comments}, (), True) == []
    assert settle([], {"f.py": comments}, ("f.py",), False) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a()  # netmend: ignore[S201]\n", "a()\n"),
        ("a()  # netmend: ignore[S201]", "a()"),
        ("a()  # netmend: ignore[S201, S101]\n", "a()  # netmend: ignore[S101]\n"),
        ("a()  # noqa  # netmend: ignore[S201]\n", "a()  # noqa\n"),
        ("a()  # netmend: ignore[S201]  # noqa\n", "a()  # noqa\n"),
        ("# netmend: ignore[S201]\na()\n", "a()\n"),
        ("a()\r\nb()  # netmend: ignore[S201]\r\n", "a()\r\nb()\r\n"),
    ],
)
def test_the_fix_takes_away_what_is_unused(before: str, after: str) -> None:
    found = left(before, at(1, "S101"))
    text, fixed = apply(before, found, unsafe=False)
    assert text == after and len(fixed) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a()  # netmend: ignore[S210]\n", "There is no rule 'S210' to silence; did you mean S201?"),
        ("a()  # netmend: ignore[S201, lop]\n", "There is no rule 'lop' to silence; did you mean loop?"),
        (
            "a()  # netmend: ignore S201\n",
            "Without brackets every rule is silenced; write # netmend: ignore[S201]",
        ),
        ("a()  # netmend: ignore[S201\n", "The closing bracket is missing"),
    ],
)
def test_mistakes_in_comments_are_told(text: str, message: str) -> None:
    (found,) = complaints("f.py", suppressions(text, KNOWN, ALL), KNOWN)
    assert found.code == "S002" and message in found.message
    assert "S001" not in codes(text, at(1))


@pytest.mark.parametrize(
    "text",
    [
        "a(  # netmend: ignore[S201]\n",
        "'''  # netmend: ignore\n",
        "# netmend: ignore[[[",
        "\0# netmend: ignore",
    ],
)
def test_broken_texts_do_not_raise(text: str) -> None:
    suppressions(text, KNOWN, ALL)


def test_lines_count_as_python_counts_them() -> None:
    text = "a = '\x0c\u2028'\r\nb()\rc()  # netmend: ignore[S201]\n"
    assert codes(text, at(3)) == []
