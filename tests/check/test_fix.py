"""Fixes carried out: edits side by side, whole files, files on disk."""

from __future__ import annotations

import ast
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.check import fix
from netmend.errors import UsageError
from netmend.program.text import files as fix_files
from netmend.program.text.positions import lines_of
from netmend.vocabulary.finding import SAFE, UNSAFE, Edit, Finding, Fix


def finding(*edits: Edit, code: str = "S101", safe: bool = True, line: int = 0, column: int = 0) -> Finding:
    first = line or (edits[0].line if edits else 1)
    made = Fix("mend it", edits, SAFE if safe else UNSAFE)
    return Finding(code, "", "wrong", "train.py", first, column, first, column + 1, made)


def on_line_one(start: int, end: int, text: str) -> Edit:
    return Edit(1, start, 1, end, text)


# A string literal holds any text without quotes and backslashes, so every edit inside leaves valid Python.
INSIDE = st.lists(
    st.characters(blacklist_characters='"\\\x00\r', blacklist_categories=("Cs",))
    | st.sampled_from(["\n", "\r\n", "\f", "\u2028", "é", "𝛼", "# "]),
    max_size=60,
).map("".join)


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    inside = draw(INSIDE)
    text = f'x = """{inside}"""\n'
    low, high = 7, 7 + len(inside)
    # Not between "\r" and "\n": no line and column names that place.
    cuts = [cut for cut in range(low, high + 1) if text[cut - 1 : cut + 1] != "\r\n"]
    chosen = sorted(draw(st.lists(st.sampled_from(cuts), max_size=8, unique=True)))
    pairs = list(zip(chosen[::2], chosen[1::2], strict=False))
    words = st.text("abc é", max_size=5)
    return text, [(draw(st.sampled_from([start, end])), end, draw(words)) for start, end in pairs]


@settings(max_examples=300, deadline=None)
@given(texts_with_edits(), st.randoms())
def test_edits_that_do_not_meet_are_all_carried_out(
    case: tuple[str, list[tuple[int, int, str]]], random: object
) -> None:
    text, changes = case
    reference = text
    for start, end, new in sorted(changes, reverse=True):
        reference = reference[:start] + new + reference[end:]
    found = [finding(edit_of(text, *change)) for change in changes]
    random.shuffle(found)  # type: ignore[attr-defined]
    new, fixed = fix.apply(text, found, unsafe=False)
    assert new == reference
    assert sorted(map(repr, fixed)) == sorted(map(repr, found))


def edit_of(text: str, start: int, end: int, new: str) -> Edit:
    """Line and column by walking through the text, apart from the code under test."""

    def place(offset: int) -> tuple[int, int]:
        ends = [match.end() for match in re.finditer("\r\n|\r|\n", text) if match.end() <= offset]
        return len(ends) + 1, offset - (ends[-1] if ends else 0)

    return Edit(*place(start), *place(end), new)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab\r\n\f\u2028é"), max_size=30))
def test_places_and_offsets_agree(text: str) -> None:
    lines = lines_of(text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n" or offset == 0:
            assert lines.offset(*lines.place(offset)) == offset
    assert len(lines) == len(re.split("\r\n|\r|\n", text))


def test_fixes_that_meet_wait_and_whole_fixes_are_kept_together() -> None:
    text = "abcdef = 1\n"
    first = finding(on_line_one(0, 3, "x"), code="S101")
    second = finding(on_line_one(2, 4, "y"), code="S102")
    third = finding(on_line_one(4, 6, "z"), on_line_one(9, 10, "2"), code="S103")
    half = finding(on_line_one(5, 6, "w"), on_line_one(1, 2, "v"), code="S104")
    new, fixed = fix.apply(text, [third, half, second, first], unsafe=False)
    assert new == "xdz = 2\n"
    assert [item.code for item in fixed] == ["S101", "S103"]


def test_an_edit_that_two_findings_share_is_made_once() -> None:
    text = "a = 1\nb = 2\n"
    imports = Edit(1, 0, 1, 0, "import c\n")
    found = [
        finding(imports, Edit(1, 4, 1, 5, "c"), code="S1"),
        finding(imports, Edit(2, 4, 2, 5, "c"), code="S2"),
    ]
    new, fixed = fix.apply(text, found, unsafe=False)
    assert new == "import c\na = c\nb = c\n" and len(fixed) == 2
    other = finding(Edit(1, 0, 1, 0, "import d\n"), code="S3")
    assert fix.apply(text, [*found, other], unsafe=False)[1] == (
        other,
    )  # their order would matter: they wait


@pytest.mark.parametrize(
    "edit",
    [
        Edit(9, 0, 9, 1, "x"),
        Edit(1, 0, 1, 99, "x"),
        Edit(1, 3, 1, 1, "x"),
        Edit(0, 0, 1, 1, "x"),
        Edit(1, -1, 1, 1, "x"),
        Edit(1, 4, 1, 5, "("),
        Edit(1, 4, 1, 5, "'\x00'"),
        Edit(1, 4, 1, 99999, "1"),
    ],
)
def test_an_edit_that_breaks_the_file_is_left_out_and_the_others_are_made(edit: Edit) -> None:
    text = "a = 1\nb = 2\n"
    good = finding(Edit(2, 4, 2, 5, "3"), code="S102")
    assert fix.apply(text, [finding(edit), good], unsafe=False) == ("a = 1\nb = 3\n", (good,))


def test_texts_that_are_no_python_are_left() -> None:
    assert fix.apply("a = (\n", [finding(on_line_one(0, 1, "b"))], unsafe=False) == ("a = (\n", ())


def test_a_fix_that_loses_a_comment_is_refused_unless_it_is_ours() -> None:
    text = "a = 1  # why\nb = 2  # netmend: ignore[S101]\n"
    assert fix.apply(text, [finding(Edit(1, 5, 1, 12, ""))], unsafe=False)[0] == text
    assert fix.apply(text, [finding(Edit(2, 5, 2, 30, ""))], unsafe=False)[0] == "a = 1  # why\nb = 2\n"
    mixed = "a = 1  # noqa  # netmend: ignore[S101]\n"
    assert fix.apply(mixed, [finding(Edit(1, 13, 1, 38, ""))], unsafe=False)[0] == "a = 1  # noqa\n"
    moved = finding(Edit(1, 0, 1, 12, "# why\na = 1"))
    assert fix.apply(text, [moved], unsafe=False)[0] == "# why\na = 1\nb = 2  # netmend: ignore[S101]\n"


def test_unsafe_fixes_only_when_asked_for() -> None:
    found = [finding(on_line_one(4, 5, "2"), safe=False)]
    assert fix.apply("a = 1\n", found, unsafe=False) == ("a = 1\n", ())
    assert fix.apply("a = 1\n", found, unsafe=True)[0] == "a = 2\n"
    assert not fix.applicable(finding(), unsafe=True)


@pytest.mark.parametrize(
    ("text", "edit", "wanted"),
    [
        ("a = 1\r\nb = 2\r\n", Edit(2, 0, 2, 0, "c = 3\n"), "a = 1\r\nc = 3\r\nb = 2\r\n"),
        ("a = 1\rb = 2\r", Edit(2, 0, 2, 0, "c = 3\n"), "a = 1\rc = 3\rb = 2\r"),
        ("\ufeffa = 1\n", Edit(1, 0, 1, 1, "b"), "\ufeffb = 1\n"),
        ("a = 1\nb = 2", Edit(2, 0, 2, 5, ""), "a = 1"),
        ("a = 1\nb = 2\n", Edit(1, 5, 3, 0, ""), "a = 1\n"),
        ("a = 1\r\nb = 2", Edit(2, 5, 2, 5, "\nc = 3"), "a = 1\r\nb = 2\r\nc = 3"),
        ("a = '\f'\nb = 2\n", Edit(2, 0, 2, 1, "c"), "a = '\f'\nc = 2\n"),
    ],
)
def test_line_ends_byte_order_mark_and_the_last_line_end_stay(text: str, edit: Edit, wanted: str) -> None:
    assert fix.apply(text, [finding(edit)], unsafe=False)[0] == wanted


def rule(pattern: str, new: str, code: str = "S101", safe: bool = True) -> Callable[[str], list[Finding]]:
    """A rule over names: every occurrence is to be replaced."""

    def check(text: str) -> list[Finding]:
        lines = lines_of(text)
        return [
            finding(
                lines.edit(match.start(), match.end(), new),
                code=code,
                safe=safe,
                line=lines.place(match.start())[0],
                column=lines.place(match.start())[1],
            )
            for match in re.finditer(pattern, text)
        ]

    return check


def both(*checks: Callable[[str], list[Finding]]) -> Callable[[str], Sequence[Finding]]:
    return lambda text: [item for check in checks for item in check(text)]


def test_mending_goes_on_until_nothing_is_left_and_a_second_time_changes_nothing() -> None:
    check = both(rule("bad", "good"), rule("bad = bad", "same = same", "S102"))
    result = fix.fixed_point("\ufeffbad = bad\nbad()\n", check)
    assert result.text == "\ufeffgood = good\ngood()\n"
    assert len(result.fixed) == 3 and result.remaining == () == result.undone
    assert fix.fixed_point(result.text, check) == fix.Result(result.text)


def test_a_fix_that_moves_its_finding_elsewhere_is_taken_back_and_the_others_stay() -> None:
    check = both(rule("spoil|worse", "worse"), rule("bad", "good", "S103"))
    result = fix.fixed_point("spoil()\nbad()\n", check)
    assert result.text == "spoil()\ngood()\n"
    assert [item.code for item in result.undone] == ["S101"] == [item.code for item in result.remaining]
    assert [item.code for item in result.fixed] == ["S103"]


def test_what_another_rule_sees_afterwards_is_mended_in_turn() -> None:
    check = both(rule("hides", "shows"), rule("shows", "good", "S102"))
    result = fix.fixed_point("hides()\n", check)
    assert result.text == "good()\n" and [item.code for item in result.fixed] == ["S101", "S102"]


def test_a_fix_that_does_not_help_is_taken_back() -> None:
    result = fix.fixed_point("bad()\n", rule("bad", "bad"))
    assert result.text == "bad()\n" and len(result.undone) == 1 == len(result.remaining)


def test_rules_that_undo_one_another_come_to_rest() -> None:
    result = fix.fixed_point("one()\n", both(rule("one", "two"), rule("two", "one", "S102")))
    assert result.text in ("one()\n", "two()\n") and len(result.remaining) == 1


def test_findings_that_move_are_not_taken_for_new_ones() -> None:
    def check(text: str) -> list[Finding]:
        stay = rule("stay", "", "S102")(text)
        without = [Finding(i.code, "", "", "", i.line, i.column, i.line, i.column) for i in stay]
        found = [] if "import x" in text else [finding(Edit(1, 0, 1, 0, "import x\n\n"), line=1)]
        return [*found, *without]

    result = fix.fixed_point("stay()\nf(stay, stay)\n", check)
    assert result.text == "import x\n\nstay()\nf(stay, stay)\n"
    assert [(item.line, item.column) for item in result.remaining] == [(3, 0), (4, 2), (4, 8)]


def test_two_fixes_that_only_spoil_together_are_made_one_at_a_time() -> None:
    def check(text: str) -> list[Finding]:
        if "c" in text and "d" in text:
            return [Finding("S102", "", "", "", 1, 0, 1, 1)]
        return [*rule("a", "c")(text), *rule("b", "d", "S102")(text)]

    result = fix.fixed_point("a = b\n", check)
    assert result.text == "c = b\n" and [item.code for item in result.remaining] == ["S102"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["bad", "worse", "spoil", "x = 1  # bad", "f(bad, bad)"]), max_size=8))
def test_mended_texts_parse_keep_comments_and_stay(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    check = both(rule("bad(?!$)", "good"), rule("worse", "(", "S102"), rule("spoil", "bad,", "S103"))
    result = fix.fixed_point(text, check)
    ast.parse(result.text)
    assert result.text.count("#") == text.count("#")
    assert fix.fixed_point(result.text, check).text == result.text


# --- on disk


def test_writing_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"a = 1\r\n")
    file.chmod(0o750)
    fix.write(file, b"a = 1\r\n", "ä = 2\r\n")
    assert file.read_bytes() == "ä = 2\r\n".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert [item.name for item in tmp_path.iterdir()] == ["train.py"]


def test_writing_follows_links_and_uses_the_encoding(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    real, link = folder / "real.py", tmp_path / "link.py"
    real.write_bytes("# ä\n".encode("latin-1"))
    link.symlink_to(real)
    fix.write(link, real.read_bytes(), "# ö\n", "latin-1")
    assert link.is_symlink() and real.read_bytes() == "# ö\n".encode("latin-1")
    with pytest.raises(UsageError, match=r"link\.py was left as it is: the mended text does not fit latin-1"):
        fix.write(link, real.read_bytes(), "# →\n", "latin-1")
    fix.write(real, real.read_bytes(), "a = 1\n", "utf-8-sig")
    assert real.read_bytes() == b"\xef\xbb\xbfa = 1\n"


def test_a_file_that_changed_meanwhile_is_left(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"other\n")
    with pytest.raises(UsageError, match="it changed while it was checked; run netmend check again"):
        fix.write(file, b"a = 1\n", "a = 2\n")
    assert file.read_bytes() == b"other\n"
    file.unlink()
    with pytest.raises(UsageError, match=r"cannot be written \(No such file or directory\)"):
        fix.write(file, b"a = 1\n", "a = 2\n")


def test_read_only_files_and_folders_give_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"a = 1\n")
    file.chmod(0o444)
    with pytest.raises(UsageError, match="the file is read-only"):
        fix.write(file, b"a = 1\n", "a = 2\n")
    file.chmod(0o644)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(fix_files.tempfile, "mkstemp", refuse)
    with pytest.raises(
        UsageError, match=r"train\.py was left as it is: it cannot be written \(Permission denied\)"
    ):
        fix.write(file, b"a = 1\n", "a = 2\n")
    assert file.read_bytes() == b"a = 1\n"


def test_a_failed_move_leaves_the_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"a = 1\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left"):
        fix.write(file, b"a = 1\n", "a = 2\n")
    assert [(item.name, item.read_bytes()) for item in tmp_path.iterdir()] == [("train.py", b"a = 1\n")]


CHANGES = {
    "plain": ("a = 1\nb = 2\n", "a = 1\nb = 3\n"),
    "new at the end": ("a = 1", "a = 1\nb = 2"),
    "line end gone": ("a = 1\n", "a = 1"),
    "windows": ("a = 1\r\nb = 2\r\n", "a = 1\r\nb = 3\r\n"),
    "form feed": ("a = 1\n\f\nb = '\u2028'\n", "a = 1\n\f\nb = 'x'\n"),
    "all gone": ("a = 1\n", ""),
    "far apart": ("a = 1\n" + "x\n" * 30 + "b = 2\n", "a = 2\n" + "x\n" * 30 + "b = 3\n"),
}


@pytest.mark.parametrize("name", ["train.py", "src/my model/größe.py"])
@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("tool", [("git", "apply"), ("patch", "-p1", "--binary")])
def test_a_diff_can_be_applied(tmp_path: Path, name: str, case: str, tool: tuple[str, ...]) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not installed")
    old, new = CHANGES[case]
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(old.encode())
    text = fix.diff(name, old, new)
    subprocess.run(tool, input=text.encode(), cwd=tmp_path, check=True, capture_output=True)
    assert (file.read_bytes() if file.exists() else b"") == new.encode()


def test_a_diff_names_the_file_as_git_does() -> None:
    assert fix.diff("a.py", "a\n", "b\n") == "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert fix.diff("a.py", "a\n", "a\n") == ""
    assert fix.diff("/x/a.py", "a\n", "b\n").startswith("--- a/x/a.py\n")
    assert fix.diff("my\\a b.py", "a\n", "b\n").startswith("--- a/my/a b.py\t\n")
    assert fix.diff('a"b.py', "a\n", "b\n").startswith('--- "a/a\\042b.py"\n')
