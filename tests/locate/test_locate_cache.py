"""Facts kept between questions: by content, safe against damage, shared by processes."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np

from netmend.locate.cache import FORMAT, FactsCache
from netmend.locate.parsing import CONTENT_FIELDS, Field, parse
from netmend.locate.postings import pack
from netmend.locate.repository import Commit
from netmend.locate.words import term_number

SOURCE = b"class Loader:\n    def open_file(self, name):\n        raise IOError('cannot open the file')\n"


def test_packing_keeps_terms_and_counts() -> None:
    facts = parse(SOURCE)
    packed = pack(facts)
    sizes = np.frombuffer(packed.sizes, "<u4")
    number = CONTENT_FIELDS.index(Field.BODY)
    start = int(sizes[:number].sum())
    terms = np.frombuffer(packed.terms, "<u4")[start : start + sizes[number]]
    counts = np.frombuffer(packed.counts, "<u2")[start : start + sizes[number]]
    assert (np.diff(terms.astype(np.int64)) > 0).all()
    assert dict(zip(terms.tolist(), counts.tolist(), strict=True)) == {
        term_number(term): count for term, count in facts.fields[Field.BODY].items()
    }


def test_what_was_stored_is_found_by_another_cache(tmp_path: Path) -> None:
    packed = pack(parse(SOURCE))
    one = FactsCache(tmp_path)
    assert one.missing(["b1", "b2", "b1"]) == ["b1", "b2"]
    one.store([("b1", packed)])
    other = FactsCache(tmp_path)  # while the first is open
    assert other.missing(["b1", "b2"]) == ["b2"]
    found = other.facts(["b1", "b2"])
    assert set(found) == {"b1"}
    assert (found["b1"].terms, found["b1"].lines) == (packed.terms, 4)
    assert [one.name for one in other.definitions("b1")] == ["Loader", "Loader.open_file"]
    assert other.definitions("b2") == ()


def test_more_contents_than_one_question_may_name(tmp_path: Path) -> None:
    packed = pack(parse(b""))
    cache = FactsCache(tmp_path)
    blobs = [f"b{number}" for number in range(1_234)]
    cache.store([(blob, packed) for blob in blobs])
    assert cache.missing([*blobs, "other"]) == ["other"]
    assert len(cache.facts(blobs)) == 1_234


def test_commits_keep_their_files(tmp_path: Path) -> None:
    commit = Commit("c1", 12.5, "Fix “it”", ("a.py", "b c.py"))
    odd = Commit("c2", 13.0, "bytes \udcff", ())
    FactsCache(tmp_path).store_commits([commit, odd])
    found = FactsCache(tmp_path).commits(["c1", "c2", "c3"])
    assert found["c1"] == commit
    assert found["c2"].files == ()
    assert "c3" not in found


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / f"facts-{FORMAT}.sqlite").write_bytes(b"this is no database" * 1_000)
    cache = FactsCache(tmp_path)
    cache.store([("b1", pack(parse(SOURCE)))])
    assert cache.note == ""
    assert FactsCache(tmp_path).missing(["b1"]) == []


def test_a_file_damaged_inside_still_gives_answers_and_is_removed(tmp_path: Path) -> None:
    packed = pack(parse(SOURCE))
    first = FactsCache(tmp_path)
    first.store([(f"b{number}", packed) for number in range(300)])
    first.close()
    file = tmp_path / f"facts-{FORMAT}.sqlite"
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    cache = FactsCache(tmp_path)
    assert cache.missing(["b1"]) == ["b1"]
    cache.store([("b1", packed)])
    assert cache.missing(["b1"]) == []
    assert cache.facts(["b1"])["b1"].terms == packed.terms
    assert [one.name for one in cache.definitions("b1")] == ["Loader", "Loader.open_file"]
    assert "could not be kept or read" in cache.note
    cache.close()
    anew = FactsCache(tmp_path)
    anew.store([("b1", packed)])
    assert anew.note == ""


def test_two_writers_at_once(tmp_path: Path) -> None:
    packed = pack(parse(SOURCE))

    def write(start: int) -> None:
        cache = FactsCache(tmp_path)
        for number in range(start, start + 20):
            cache.store([(f"b{number}", packed)])
        cache.close()

    writers = [threading.Thread(target=write, args=(start,)) for start in (0, 10)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert FactsCache(tmp_path).missing(f"b{number}" for number in range(30)) == []


def test_where_nothing_can_be_written_it_lives_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = FactsCache(tmp_path / "file")
    cache.store([("b1", pack(parse(SOURCE)))])
    assert cache.missing(["b1"]) == []
    assert cache.folder is None
    assert "could not be kept" in cache.note


def test_the_folder_is_ignored_by_git(tmp_path: Path) -> None:
    FactsCache(tmp_path / "new")
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
