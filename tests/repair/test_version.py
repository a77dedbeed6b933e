"""A program with changes in it: what it reads then, and what is left when one of them is taken out again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.program.text.positions import Lines
from netmend.program.text.spans import Span
from netmend.repair.apply import read
from netmend.repair.version import Part, Version
from netmend.vocabulary.change import Change, FileEdit
from netmend.vocabulary.finding import Edit

PROGRAM = "import torch\n\nlr = 10\nepochs = 3\nfor epoch in range(epochs):\n    step(lr)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_bytes(PROGRAM.encode())
    (tmp_path / "config.yaml").write_bytes(b"lr: 10  # high\nepochs: 3\n")
    return tmp_path


def change(folder: Path, *edits: tuple[str, str, str], file: str = "train.py", **more: object) -> Change:
    """Each edit: in the text as it is on disk, the part that goes, the part that comes."""
    text = read(str(folder / file))
    made = []
    for old, new, *_ in edits:
        assert text.count(old) == 1
        start = text.index(old)
        made.append(FileEdit(str(folder / file), Lines(text).edit(start, start + len(old), new)))
    return Change("R1", "CAUSE", f"{edits[0] if edits else ''}", tuple(made), **more)  # type: ignore[arg-type]


def extended(version: Version, folder: Path, *changes: Change) -> Version:
    """Changes whose edits are places in the original: each is carried out on its own copy of the text before."""
    for one in changes:
        made = version.extended(one, str(folder), str(folder))
        assert made is not None
        version = made
    return version


ORIGINAL = Version({}, ("--epochs", "3"))


def test_nothing_changed(folder: Path) -> None:
    assert ORIGINAL.texts == {}
    assert ORIGINAL.current_arguments == ("--epochs", "3")
    assert ORIGINAL.text("train.py", str(folder)) == PROGRAM


def test_a_change_is_made_and_the_original_remembered(folder: Path) -> None:
    version = extended(ORIGINAL, folder, change(folder, ("lr = 10", "lr = 0.01")))
    assert version.texts == {"train.py": PROGRAM.replace("lr = 10", "lr = 0.01")}
    assert version.originals == {"train.py": PROGRAM}
    assert (folder / "train.py").read_text() == PROGRAM  # nothing is written
    assert ORIGINAL.texts == {}


def test_a_change_upon_another_and_either_taken_out(folder: Path) -> None:
    first = extended(ORIGINAL, folder, change(folder, ("lr = 10", "learning_rate = lr = 0.01")))
    # The second change is made of the first version's text, as a trial's copy shows it.
    copy = folder / "copy"
    copy.mkdir()
    (copy / "train.py").write_text(first.texts["train.py"])
    second = first.extended(change(copy, ("step(lr)", "step(lr / 2)")), str(copy), str(folder))
    assert second is not None
    assert second.texts["train.py"] == PROGRAM.replace("lr = 10", "learning_rate = lr = 0.01").replace(
        "step(lr)", "step(lr / 2)"
    )
    only_second, only_first = second.without(0), second.without(1)
    assert only_second is not None and only_first is not None
    assert only_second.texts["train.py"] == PROGRAM.replace("step(lr)", "step(lr / 2)")
    assert only_first == first
    nothing = only_first.without(0)
    assert nothing is not None and nothing.texts == {} and nothing.parts == ()


def test_a_change_that_builds_on_another_keeps_it_in(folder: Path) -> None:
    first = extended(ORIGINAL, folder, change(folder, ("lr = 10", "lr = min(0.01, 10)")))
    copy = folder / "copy"
    copy.mkdir()
    (copy / "train.py").write_text(first.texts["train.py"])
    second = first.extended(change(copy, ("0.01", "0.02")), str(copy), str(folder))
    assert second is not None and second.without(0) is None
    # One that takes the place of all that the first wrote does not need it.
    third = first.extended(change(copy, ("lr = min(0.01, 10)", "lr = 1")), str(copy), str(folder))
    assert third is not None
    alone = third.without(0)
    assert alone is not None and alone.texts["train.py"] == PROGRAM.replace("lr = 10", "lr = 1")


def test_edits_of_several_files_and_of_arguments(folder: Path) -> None:
    both = change(folder, ("lr = 10", "lr = 1"))
    other = change(folder, ("10", "0.1"), file="config.yaml")
    both = Change("R1", "CAUSE", "both", (*both.edits, *other.edits), arguments=("--epochs", "30"), knob="k")
    version = extended(ORIGINAL, folder, both)
    assert version.texts == {
        "train.py": PROGRAM.replace("lr = 10", "lr = 1"),
        "config.yaml": "lr: 0.1  # high\nepochs: 3\n",
    }
    assert version.current_arguments == ("--epochs", "30")
    assert version.arguments == ("--epochs", "3")
    assert version.knobs == {"k"}
    without = version.without(0)
    assert without is not None and without.texts == {} and without.current_arguments == ("--epochs", "3")


def test_arguments_alone_are_a_change(folder: Path) -> None:
    version = extended(ORIGINAL, folder, change(folder, arguments=("--epochs", "5")))
    assert version.texts == {} and version.current_arguments == ("--epochs", "5")
    later = extended(version, folder, change(folder, arguments=("--epochs", "9")))
    assert later.current_arguments == ("--epochs", "9")
    assert later.without(0) is None  # the later arguments were made of the earlier ones
    back = later.without(1)
    assert back is not None and back.current_arguments == ("--epochs", "5")


def test_the_intervention_in_place_of_the_patch(folder: Path) -> None:
    patch = change(folder, ("lr = 10", "lr = 1"))
    forced = change(folder, ("step(lr)", "step(1)")).edits
    version = ORIGINAL.extended(patch, str(folder), str(folder), forced)
    assert version is not None and version.texts == {"train.py": PROGRAM.replace("step(lr)", "step(1)")}


@pytest.mark.parametrize(
    "edits",
    [
        (("lr = 10", "lr = = 10"),),  # no Python
        (("lr = 10", "lr = 1"), ("= 10", "= 2")),  # they meet
        (),
    ],
)
def test_what_cannot_be_made(folder: Path, edits: tuple[tuple[str, str, str], ...]) -> None:
    assert ORIGINAL.extended(change(folder, *edits), str(folder), str(folder)) is None


def test_places_that_the_text_does_not_have(folder: Path) -> None:
    file = str(folder / "train.py")
    for edit in (Edit(99, 0, 99, 1, "x"), Edit(3, 0, 3, 99, "x"), Edit(3, 4, 3, 2, "x")):
        assert (
            ORIGINAL.extended(Change("", "", "", (FileEdit(file, edit),)), str(folder), str(folder)) is None
        )


def test_files_that_are_not_the_users(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Outside of the program's folder, or written by the program itself while it ran."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "train.py").write_text(PROGRAM)
    assert ORIGINAL.extended(change(elsewhere, ("lr = 10", "lr = 1")), str(folder), str(folder)) is None
    (elsewhere / "made.json").write_text('{"lr": 10}\n')
    made = change(elsewhere, ("10", "1"), file="made.json")
    assert ORIGINAL.extended(made, str(elsewhere), str(folder)) is None


@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r"])
def test_line_ends_stay(tmp_path: Path, line_end: str) -> None:
    data = PROGRAM.replace("\n", line_end).encode()
    (tmp_path / "train.py").write_bytes(data)
    inserted = Change("", "", "", (FileEdit(str(tmp_path / "train.py"), Edit(4, 0, 4, 0, "a = 1\nb = 2\n")),))
    version = ORIGINAL.extended(inserted, str(tmp_path), str(tmp_path))
    assert version is not None
    expected = PROGRAM.replace("epochs = 3\n", "a = 1\nb = 2\nepochs = 3\n", 1).replace("\n", line_end)
    assert version.texts["train.py"] == expected


def test_bytes_that_are_no_utf8_stay(tmp_path: Path) -> None:
    data = b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\nlr = 10\n"
    (tmp_path / "train.py").write_bytes(data)
    edit = FileEdit(str(tmp_path / "train.py"), Edit(3, 5, 3, 7, "1"))
    version = ORIGINAL.extended(Change("", "", "", (edit,)), str(tmp_path), str(tmp_path))
    assert version is not None
    assert version.texts["train.py"].encode(errors="surrogateescape") == data.replace(b"10", b"1")


# -- any parts at any places -----------------------------------------------------------------------------------------


@st.composite
def parts_at_places(draw: st.DrawFn) -> tuple[str, list[list[tuple[int, int, str]]]]:
    """A text, and parts whose edits are of different places of it, in any order; none covers another, some touch."""
    text = draw(st.text("abc \n", min_size=1, max_size=40)) + "."
    cuts = sorted(draw(st.lists(st.integers(0, len(text) - 1), max_size=12, unique=True)))
    edits: list[tuple[int, int, str]] = []
    for start, end in pairwise(cuts):
        kind = draw(st.sampled_from(["keep", "replace", "insert"]))
        if kind == "replace":  # right beside another one, often
            edits.append((start, end, draw(st.text("XYZ\n", max_size=4))))
        elif kind == "insert" and (not edits or edits[-1][1] < start):
            edits.append((start, start, draw(st.text("XYZ\n", max_size=4))))
    order = draw(st.permutations(range(len(edits))))
    count = draw(st.integers(1, max(1, len(edits))))
    parts = [[edits[i] for i in order[k::count]] for k in range(count)]
    return text, [part for part in parts if part]


def made_of(text: str, parts: list[list[tuple[int, int, str]]]) -> Version:
    """Parts one after the other; places of the original are moved to where they are when the part is made."""
    version = Version({"a.txt": text})
    earlier: list[tuple[int, int, str]] = []
    for part in parts:
        spans = []
        for start, end, new in sorted(part):
            shift = sum(len(t) - (e - s) for s, e, t in earlier if s < start)
            spans.append(Span(start + shift, end + shift, new))
        version = Version(
            version.originals, (), (*version.parts, Part(Change("", "", ""), {"a.txt": tuple(spans)}))
        )
        earlier += part
    return version


def expected(text: str, parts: list[list[tuple[int, int, str]]]) -> str:
    for start, end, new in sorted((edit for part in parts for edit in part), reverse=True):
        text = text[:start] + new + text[end:]
    return text


@given(parts_at_places(), st.data())
@settings(max_examples=400, deadline=None)
def test_any_part_can_be_dropped(
    case: tuple[str, list[list[tuple[int, int, str]]]], data: st.DataObject
) -> None:
    text, parts = case
    version = made_of(text, parts)
    assert version.text("a.txt", "") == expected(text, parts)
    while parts:
        index = data.draw(st.integers(0, len(parts) - 1))
        smaller = version.without(index)
        assert smaller is not None
        del parts[index]
        version = smaller
        assert version.text("a.txt", "") == expected(text, parts)
        assert len(version.parts) == len(parts)


@given(parts_at_places())
@settings(max_examples=100, deadline=None)
def test_changes_that_were_all_written_for_the_same_text(
    case: tuple[str, list[list[tuple[int, int, str]]]],
) -> None:
    """Each knows only the original; each finds its place beside those made before."""
    text, parts = case
    version: Version | None = Version({"a.txt": text})
    for part in parts:
        edits = tuple(FileEdit("/there/a.txt", Lines(text).edit(*edit)) for edit in part)
        assert version is not None
        version = version.extended(Change("", "", "", edits), "/there", "/there", since=0)
    assert version is not None and version.text("a.txt", "") == expected(text, parts)


def test_changes_of_one_text_that_meet_are_refused() -> None:
    def edit(start: int, end: int, new: str) -> Change:
        return Change("", "", "", (FileEdit("/there/a.txt", Edit(1, start, 1, end, new)),))

    first = Version({"a.txt": "abcdef."}).extended(edit(1, 3, "X"), "/there", "/there")
    assert first is not None
    for start, end in ((0, 2), (2, 4), (1, 3), (0, 6), (2, 2), (1, 1), (3, 3)):
        assert first.extended(edit(start, end, "Y"), "/there", "/there", since=0) is None
    beside = first.extended(edit(3, 4, "Y"), "/there", "/there", since=0)
    assert beside is not None and beside.text("a.txt", "") == "aXYef."


def test_insertions_at_one_place_keep_their_order() -> None:
    """What was put behind another stays behind the next when the first is dropped."""
    parts = [
        Part(Change("", "", ""), {"a": (Span(at, at, text),)})
        for at, text in ((1, "AA"), (3, "BB"), (5, "CC"))
    ]
    version = Version({"a": "<>."}, (), tuple(parts))
    assert version.text("a", "") == "<AABBCC>."
    for index, left in enumerate(("<BBCC>.", "<AACC>.", "<AABB>.")):
        smaller = version.without(index)
        assert smaller is not None and smaller.text("a", "") == left


def test_an_edit_beside_what_was_taken_out() -> None:
    gone = Part(Change("", "", ""), {"a": (Span(1, 3, ""),)})
    for span, both, alone in (
        (Span(1, 2, "X"), "<X>.", "<bbX>."),  # just behind it
        (Span(0, 1, "X"), "Xc>.", "Xbbc>."),  # just before it
        (Span(1, 1, "X"), "<Xc>.", "<bbXc>."),  # where it was
        (Span(0, 2, "X"), "X>.", "X>."),  # around it: what was taken out goes with the rest
    ):
        version = Version({"a": "<bbc>."}, (), (gone, Part(Change("", "", ""), {"a": (span,)})))
        assert version.text("a", "") == both
        smaller = version.without(0)
        assert smaller is not None and smaller.text("a", "") == alone
