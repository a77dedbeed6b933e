"""Cuts of texts: what the program writes, what the files hold, and how well a part says the class."""

from __future__ import annotations

import csv
import json
import sqlite3
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from netmend.adapters.preparation.probes import Words, lift, say_by_numbers
from netmend.adapters.preparation.raw_files import labelled_files, read
from netmend.adapters.preparation.records import classes_of, labelled_texts
from netmend.adapters.preparation.signs import of_picture, of_sound
from netmend.adapters.preparation.written_cuts import LETTERS, WORDS, sources_of, written_cuts
from netmend.adapters.preparation.written_shrinks import Shrinking, written_shrinks

KINDS = ("billing", "login", "bug")
TEXTS = [
    (" ".join(f"word{(i * 7 + place) % 90}" for place in range(20)) + f" please help with {KINDS[i % 3]}", KINDS[i % 3])
    for i in range(240)
]  # fmt: skip
TARGETS = np.array([KINDS.index(kind) for _, kind in TEXTS])


def cuts_in(text: str, folder: Path) -> list[tuple[int, str, str]]:
    file = folder / "program.py"
    file.write_text(text)
    module = ModuleType("program")
    module.__file__ = str(file)
    exec(compile(text, str(file), "exec"), vars(module))
    return [(cut.size, cut.unit, cut.keeps) for cut in written_cuts(sources_of([module]))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("LONG = 40\ndef ids(text):\n    return text.lower().split()[:LONG]\n", (40, WORDS, "first")),
        ("def ids(row):\n    return row['text'][:80]\n", (80, LETTERS, "first")),
        ("def ids(text, n=50):\n    words = text.split()\n    return words[-n:]\n", (50, WORDS, "last")),
        ("def ids(text, n):\n    return text.split()[:n]\n\nids('a b', 30)\n", (30, WORDS, "first")),
        ("cfg = {'n': 25}\ndef ids(text, n):\n    return text.split()[:n]\n\nids('a b', cfg['n'])\n", (25, WORDS, "first")),
        ("class Set:\n    def __init__(self, n=64):\n        self.n = n\n    def get(self, text):\n        return [w for w in text.split()][: self.n]\n", (64, WORDS, "first")),
        ("import argparse\ndef main():\n    p = argparse.ArgumentParser()\n    p.add_argument('--max-len', type=int, default=32)\n    args = p.parse_args([])\n"
         "    def ids(text):\n        return text.split()[:args.max_len]\n    ids('a')\nmain()\n", (32, WORDS, "first")),
        ("def ids(table):\n    return table.text.str[:70]\n", (70, LETTERS, "first")),
    ],
)  # fmt: skip
def test_a_cut_is_read_with_its_number(text: str, found: tuple[int, str, str], tmp_path: Path) -> None:
    assert cuts_in(text, tmp_path) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "def show(text):\n    print(text[:80])\n",
        "def show(text):\n    return f'{text[:80]}...'\n",
        "def cut(text, n):\n    return text[:n]\n",
        "pair = 'ab'[:2]\n",
    ],
)
def test_what_is_shown_or_open_is_no_cut(text: str, tmp_path: Path) -> None:
    assert cuts_in(text, tmp_path) == []


def _as_table(folder: Path) -> None:
    with (folder / "a.tsv").open("w", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerows([("number", "body", "queue"), *((i, *pair) for i, pair in enumerate(TEXTS))])


def _as_lines(folder: Path) -> None:
    records = [{"body": text, "queue": kind} for text, kind in TEXTS]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, records)))


def _as_json(folder: Path) -> None:
    (folder / "a.json").write_text(
        json.dumps({"items": [{"body": t, "stars": 1 + 2 * KINDS.index(k)} for t, k in TEXTS]})
    )


def _as_database(folder: Path) -> None:
    with sqlite3.connect(folder / "a.db") as opened:
        opened.execute("CREATE TABLE tickets (body TEXT, queue TEXT)")
        opened.executemany("INSERT INTO tickets VALUES (?, ?)", TEXTS)


@pytest.mark.parametrize("write", [_as_table, _as_lines, _as_json, _as_database])
def test_texts_come_with_the_labels_that_are_spread_like_the_targets(write: object, tmp_path: Path) -> None:
    assert callable(write)
    write(tmp_path)
    found = list(labelled_texts(tmp_path, time.time() + 5, TARGETS))
    assert len(found) == 1 and len(found[0].texts) == 240 and len(set(found[0].classes)) == 3
    assert not list(labelled_texts(tmp_path, time.time() + 5, np.arange(240) % 2))


def test_stars_are_read_as_good_and_bad(tmp_path: Path) -> None:
    records = [{"body": text, "stars": 1 + i % 5} for i, (text, _) in enumerate(TEXTS)]
    (tmp_path / "a.json").write_text(json.dumps(records))
    good = np.array([1 + i % 5 > 3 for i in range(240)]).astype(float)
    found = list(labelled_texts(tmp_path, time.time() + 5, good))
    assert len(found) == 2  # from four on, or up to two: both are two fifths


def test_words_behind_the_cut_say_the_class() -> None:
    words = Words(text.split() for text, _ in TEXTS)
    whole, kept = words.say(TARGETS), words.say(TARGETS, last=20)
    assert whole.balanced > 0.95 and kept.balanced < 0.5 and lift(whole, kept) > 5
    assert words.say(TARGETS, first=words.lengths() - 2).balanced > 0.95


def test_numbers_say_the_class_where_they_can() -> None:
    random = np.random.default_rng(0)
    noise = random.normal(size=(240, 20))
    told = noise.copy()
    told[:, 3] += 3 * TARGETS
    assert say_by_numbers(told, TARGETS).balanced > 0.7 > say_by_numbers(noise, TARGETS).balanced


def test_targets_that_are_no_classes() -> None:
    assert classes_of([np.random.default_rng(0).normal(size=30)]) is None
    assert classes_of([np.zeros((4, 3))]) is None
    assert list(classes_of([np.array([[0.0], [1.0]])])) == [0.0, 1.0]


def shrinks_in(text: str, folder: Path) -> list[Shrinking]:
    file = folder / "program.py"
    file.write_text(text)
    module = ModuleType("program")
    module.__file__ = str(file)
    exec(compile(text, str(file), "exec"), vars(module))
    return list(written_shrinks(sources_of([module])))


def dotted(number: int) -> np.ndarray:
    """A picture with or without one dark dot."""
    random = np.random.default_rng(number)
    pixels = random.normal(128, 2, size=(60, 60))
    if number % 2:
        pixels[tuple(random.integers(1, 59, size=2))] = 60
    return pixels.astype(np.float32)


@pytest.mark.parametrize(
    ("line", "loses"),
    [
        ("cv2.resize(x, (SIDE, SIDE))", True),
        ("cv2.resize(x, dsize=(SIDE, SIDE), interpolation=cv2.INTER_NEAREST)", True),
        ("F.interpolate(x, size=(SIDE, SIDE))", True),
        ("F.interpolate(x, (SIDE, SIDE), mode='bilinear')", True),
        ("x.resize((SIDE, SIDE), Image.NEAREST)", True),
        ("x[::5, ::5]", True),
        ("x[20:40, 20:40]", True),
        ("center_crop(x, SIDE)", True),
        ("cv2.resize(x, (SIDE, SIDE), interpolation=cv2.INTER_AREA)", False),
        ("x.resize((SIDE, SIDE))", False),
        ("cv2.resize(x, (2 * SIDE, n))", False),
    ],
)
def test_what_a_line_leaves_of_pictures(line: str, loses: bool, tmp_path: Path) -> None:
    found = shrinks_in(f"SIDE = 12\n\ndef read(x, n):\n    return {line}\n", tmp_path)
    assert len(found) == loses
    if loses:
        pictures, classes = [dotted(number) for number in range(160)], np.arange(160) % 2
        whole = say_by_numbers([of_picture(pixels) for pixels in pictures], classes)
        left = say_by_numbers([of_picture(found[0].leaves(pixels, 0)) for pixels in pictures], classes)
        assert whole.balanced > 0.95 and left.balanced < 0.8
        if found[0].better is not None:
            better = say_by_numbers([of_picture(found[0].better(pixels, 0)) for pixels in pictures], classes)
            assert better.balanced > 0.9


@pytest.mark.parametrize(
    "line",
    ["resample_poly(x, RATE, sr)", "librosa.resample(x, orig_sr=sr, target_sr=RATE)", "librosa.load(x, sr=RATE)", "decimate(x, 2)",
     "T.Resample(sr, RATE)(x)", "x[:RATE]"],
)  # fmt: skip
def test_what_a_line_leaves_of_recordings(line: str, tmp_path: Path) -> None:
    (found,) = shrinks_in(f"RATE = 8000\n\ndef read(x, sr):\n    return {line}\n", tmp_path)
    time_, random = np.arange(16000) / 16000, np.random.default_rng(0)
    late = np.where(time_ > 0.7, np.sin(2 * np.pi * 900 * time_), 0)
    sounds = [random.normal(size=16000) + (number % 2) * late for number in range(120)]
    classes = np.arange(120) % 2
    whole = say_by_numbers([of_sound(sound) for sound in sounds], classes)
    left = [found.leaves(sound, 16000) for sound in sounds]
    assert found.is_sound and whole.balanced > 0.95
    assert all(len(one) <= 8002 for one in left)
    kept_late = say_by_numbers([of_sound(one) for one in left], classes)
    assert (kept_late.balanced > 0.9) == (line != "x[:RATE]")


@pytest.mark.parametrize("where", ["folder", "name", "table"])
def test_files_come_with_their_labels(where: str, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    kinds = ["ok", "holed"]
    for number in range(120):
        kind = kinds[number % 2]
        name = f"{kind}_{number}.png" if where == "name" else f"{number}.png"
        folder = tmp_path / kind if where == "folder" else tmp_path / "all"
        folder.mkdir(exist_ok=True)
        image.fromarray(dotted(number).astype(np.uint8)).save(folder / name)
    if where == "table":
        rows = ["file,kind", *(f"{number}.png,{kinds[number % 2]}" for number in range(120))]
        (tmp_path / "all.csv").write_text("\n".join(rows))
    found = list(labelled_files(tmp_path, time.time() + 5, np.arange(120) % 2))
    assert len(found) == 1
    content = read(found[0].contents[1], found[0].is_sound)
    assert content is not None and content[0].shape == (60, 60)
    assert {str(name) for name in found[0].classes} == {"ok", "holed"}
