"""The cache: the same answer without looking, never an old answer, and no harm when it cannot be used."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from netmend.check import cache as caching
from netmend.check.cache import Cache, cache_file
from netmend.check.reading import digest
from netmend.check.results import FileResult, from_plain, to_plain
from netmend.check.select import Selection
from netmend.check.suppress import Item, Suppression
from netmend.vocabulary.finding import Edit, Finding, Fix, Related

SELECTION = Selection(frozenset(("S201",)), (("tests/*", frozenset(("S1",))),), False, "/root")
FINDING = Finding(
    "S201",
    "LYR",
    "Wrong é.",
    "/a.py",
    3,
    4,
    3,
    9,
    Fix("Drop", (Edit(3, 4, 3, 9, ""),), "safe"),
    (Related("r", "b", 1, 2),),
)
COMMENT = Suppression(
    1, 2, 3, 1, 1, False, (Item("S201", ("S201",), True, True),), Edit(1, 2, 1, 3, ""), (2, 3), "n", 4
)
AN_HOUR = 3600 * 10**9


def write(file: Path, text: str, *, age: int = AN_HOUR) -> None:
    file.write_text(text, encoding="utf-8")
    then = time.time_ns() - age
    os.utime(file, ns=(then, then))


def result(file: Path, *, reads: tuple[Path, ...] = (), **more: object) -> FileResult:
    status = file.stat()
    return FileResult(
        reads=tuple(map(str, reads)),
        size=status.st_size,
        modified=status.st_mtime_ns,
        digest=digest(file.read_bytes()),
        **{"findings": (FINDING,), **more},  # type: ignore[arg-type]
    )


def stored(place: Path, *results: tuple[Path, FileResult]) -> Cache:
    cache = Cache(place)
    cache.selection = SELECTION
    for file, one in results:
        cache.put(str(file), one)
    cache.save()
    return Cache(place)


def test_results_survive_the_way_through_json() -> None:
    whole = FileResult((FINDING,), (COMMENT,), "p", ("/r.py",), ("f",), 1, 2, "d", True, False)
    assert from_plain(json.loads(json.dumps(to_plain(whole)))) == whole


def test_a_result_is_found_again(tmp_path: Path) -> None:
    file, clean = tmp_path / "a.py", tmp_path / "b.py"
    write(file, "x = 1\n")
    write(clean, "y = 1\n")
    cache = stored(tmp_path / "c.json", (file, result(file)), (clean, result(clean, findings=())))
    assert cache.selection == SELECTION
    assert cache.get(str(file)) == result(file)
    assert cache.get(str(clean)) == FileResult()
    assert cache.get(str(tmp_path / "other.py")) is None


def test_a_changed_file_is_looked_into_again(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    for change in ("x = 22\n", "x = 2\n"):
        write(file, "x = 1\n")
        cache = stored(tmp_path / "c.json", (file, result(file)))
        write(file, change, age=AN_HOUR // 2)
        assert cache.get(str(file)) is None


def test_the_content_decides_when_only_the_time_differs(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    write(file, "x = 1\n")
    cache = stored(tmp_path / "c.json", (file, result(file)))
    write(file, "x = 1\n", age=AN_HOUR // 2)
    assert cache.get(str(file)) is not None


def test_what_was_written_a_moment_before_is_compared_by_content(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    write(file, "x = 1\n", age=0)
    moment = file.stat().st_mtime_ns
    cache = stored(tmp_path / "c.json", (file, result(file)))
    assert cache.get(str(file)) is not None
    file.write_text("x = 2\n", encoding="utf-8")
    os.utime(file, ns=(moment, moment))  # as a second change within one tick of the clock would leave it
    assert Cache(tmp_path / "c.json").get(str(file)) is None


def test_files_that_findings_rest_on_count(tmp_path: Path) -> None:
    file, model, missing = tmp_path / "a.py", tmp_path / "model.py", tmp_path / "missing.py"
    write(file, "x = 1\n")
    write(model, "y = 1\n")
    place = tmp_path / "c.json"
    entry = (file, result(file, reads=(model, missing)))
    assert stored(place, entry).get(str(file)) is not None
    write(missing, "")
    assert Cache(place).get(str(file)) is None
    missing.unlink()
    assert Cache(place).get(str(file)) is not None
    write(model, "y = 2\n", age=AN_HOUR // 2)
    assert Cache(place).get(str(file)) is None
    model.unlink()
    assert Cache(place).get(str(file)) is None


def test_a_new_result_of_one_file_does_not_revive_an_old_one_of_another(tmp_path: Path) -> None:
    first, second, model = tmp_path / "a.py", tmp_path / "b.py", tmp_path / "model.py"
    for file in (first, second, model):
        write(file, "x = 1\n")
    place = tmp_path / "c.json"
    cache = stored(place, (first, result(first, reads=(model,))), (second, result(second, reads=(model,))))
    write(model, "x = 2\n", age=AN_HOUR // 2)
    cache.begin()
    cache.put(str(first), result(first, reads=(model,)))
    cache.save()
    again = Cache(place)
    assert again.get(str(first)) is not None
    assert again.get(str(second)) is None  # made with the older model.py


def test_a_result_is_not_kept_when_what_it_rests_on_changed_meanwhile(tmp_path: Path) -> None:
    file, model = tmp_path / "a.py", tmp_path / "model.py"
    write(file, "x = 1\n")
    cache = Cache(tmp_path / "c.json")
    cache.selection = SELECTION
    write(model, "y = 1\n", age=-(10**9))
    cache.put(str(file), result(file, reads=(model,)))
    assert cache.get(str(file)) is None


def test_a_passing_trouble_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    write(file, "x = 1\n")
    cache = stored(tmp_path / "c.json", (file, result(file, problem="gave up", lasting=False)))
    assert cache.get(str(file)) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\xff", b"[]", b"{}", b'{"paths": [], "entries": [[0, [], []]], "selection": [[], [], true, ""]}',
     b'{"paths": [["/a", 1, 2, "x"]], "entries": [[0, [7], []]], "selection": [[], [], true, ""]}', b"[" * 100_000],
)  # fmt: skip
def test_a_corrupt_file_is_written_anew(tmp_path: Path, content: bytes) -> None:
    place, file = tmp_path / "c.json", tmp_path / "a.py"
    place.write_bytes(content)
    write(file, "x = 1\n")
    assert Cache(place).get(str(file)) is None
    assert stored(place, (file, result(file))).get(str(file)) is not None


def test_a_corrupt_entry_counts_as_none(tmp_path: Path) -> None:
    place, file = tmp_path / "c.json", tmp_path / "a.py"
    write(file, "x = 1\n")
    stored(place, (file, result(file)))
    data = json.loads(place.read_text(encoding="utf-8"))
    data["entries"][0][2] = [1, 2]
    place.write_text(json.dumps(data), encoding="utf-8")
    assert Cache(place).get(str(file)) is None


def test_a_place_that_cannot_be_written_only_means_no_cache(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    write(file, "x = 1\n")
    (tmp_path / "taken").write_text("", encoding="utf-8")
    assert stored(tmp_path / "taken" / "c.json", (file, result(file))).get(str(file)) is None


def test_no_commit_holds_it_and_old_ones_are_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "_KEPT_FILES", 2)
    file = tmp_path / "a.py"
    write(file, "x = 1\n")
    folder = tmp_path / ".netmend" / "cache"
    for number in range(4):
        stored(folder / f"check-{number}.json", (file, result(file)))
        os.utime(folder / f"check-{number}.json", (number, number))
    assert (tmp_path / ".netmend" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert sorted(found.name for found in folder.iterdir()) == ["check-2.json", "check-3.json"]


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    place, file, other = tmp_path / "c.json", tmp_path / "a.py", tmp_path / "b.py"
    write(file, "x = 1\n")
    write(other, "x = 1\n")
    cache = stored(place, (file, result(file)))
    file.unlink()
    cache.put(str(other), result(other))
    cache.save()
    assert str(file) not in place.read_text(encoding="utf-8")


def test_the_name_holds_what_results_depend_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = cache_file(tmp_path, [("S1",)])
    assert cache_file(tmp_path, [("S1",)]) == name
    assert cache_file(tmp_path, [("S2",)]) != name
    monkeypatch.setattr(caching, "VERSION", "99")
    assert cache_file(tmp_path, [("S1",)]) != name
    monkeypatch.undo()
    (tmp_path / "torch-9.9.9.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cache_file(tmp_path, [("S1",)]) != name
    monkeypatch.undo()
    monkeypatch.setattr(caching, "_own_files", lambda: [("/rules/other.py", 1, 2)])
    assert cache_file(tmp_path, [("S1",)]) != name
