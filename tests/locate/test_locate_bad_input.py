"""Reports and repositories as they really come: each gives a sensible answer or a message that says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from netmend.errors import UsageError
from netmend.locate.answer import Located
from netmend.locate.ask import ask

SOURCES = {
    "proj/trainer.py": "class Trainer:\n    def fit(self, batches):\n        return self.step(batches)\n",
    "proj/optimizer.py": "class Momentum:\n    def update(self, gradient):\n        self.velocity += gradient\n",
    "proj/reader.py": "def read_images(folder):\n    return sorted(folder.iterdir())\n",
}
REPORT = "Momentum.update ignores the gradient\n\nThe velocity of the optimizer never changes."


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "protocol.file.allow=always")
    command = ["git", *settings, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def committed(folder: Path, files: dict[str, str] | None = None) -> Path:
    write(folder, SOURCES if files is None else files)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder


def first(found: Located) -> str:
    return found.files[0].path


def notes(found: Located) -> str:
    return "\n".join(found.answer.notes)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return committed(folder)


def test_a_plain_question_is_answered(repository: Path) -> None:
    found = ask(REPORT, repository)
    assert first(found) == "proj/optimizer.py"
    assert found.files[0].functions[0].name == "Momentum.update"
    assert found.answer.candidates == 3


@pytest.mark.parametrize("text", ["", "  \n\t\n"])
def test_an_empty_report(repository: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"report is empty.*--report"):
        ask(text, repository)


def test_a_report_in_another_script_says_what_was_usable(repository: Path) -> None:
    trace = (
        'Traceback (most recent call last):\n  File "proj/reader.py", line 2, in read_images\nOSError: x\n'
    )
    found = ask(f"程序崩溃了\n\n我运行之后程序就崩溃了，请帮忙看一下。\n\n{trace}", repository)
    assert first(found) == "proj/reader.py"
    assert "not written in Latin letters" in notes(found)
    assert "1 stack frame" in notes(found)


def test_a_report_in_german_is_told_so(repository: Path) -> None:
    text = (
        "Absturz beim Einlesen\n\nBeim Einlesen der Bilder stürzt das Programm ab, sobald der Ordner leer ist oder "
        "eine Datei darin fehlt. Gestern lief es noch ohne Schwierigkeiten."
    )
    assert "does not read like English" in notes(ask(text, repository))
    assert "English" not in notes(ask(REPORT, repository))


def test_a_report_that_fits_nothing_still_ends_well(repository: Path) -> None:
    found = ask("qwxyz zzzyx", repository)
    assert found.answer.candidates == 3
    assert str(found)


def test_a_folder_without_history(tmp_path: Path) -> None:
    found = ask(REPORT, write(tmp_path / "plain", SOURCES))
    assert first(found) == "proj/optimizer.py"
    assert "no git history" in notes(found)


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    folder = write(tmp_path / "fresh", SOURCES)
    git(folder, "init", "-q")
    assert first(ask(REPORT, folder)) == "proj/optimizer.py"
    with pytest.raises(UsageError, match="no commit"):
        ask(REPORT, folder, "HEAD")


def test_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    write(repository, {"proj/late.py": "LATE = 1\n"})
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Late")
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    found = ask(REPORT, tmp_path / "shallow")
    assert first(found) == "proj/optimizer.py"
    assert "shallow" in notes(found)


def test_a_bare_repository(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    found = ask(REPORT, tmp_path / "bare.git")
    assert first(found) == "proj/optimizer.py"
    assert found.answer.root is None
    assert found.answer.revision == git(repository, "rev-parse", "HEAD")


def test_submodules_are_left_out_and_told(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    committed(other, {"inner.py": "class Momentum:\n    def update(self, gradient, velocity): ...\n"})
    git(repository, "submodule", "--quiet", "add", str(other), "other")
    git(repository, "commit", "-q", "-m", "Add the other")
    for rev in (None, "HEAD"):
        found = ask(REPORT, repository, rev)
        assert all(not file.path.startswith("other/") for file in found.files)
        assert "1 submodule left out" in notes(found)


@pytest.mark.parametrize("name", ["third_party", "vendor", "node_modules", "lib/site-packages"])
def test_copied_foreign_code_is_left_out_by_its_folder_name(tmp_path: Path, name: str) -> None:
    copies = {f"{name}/big/momentum_{n}.py": SOURCES["proj/optimizer.py"] for n in range(3)}
    folder = tmp_path / "with_copies"
    folder.mkdir()
    found = ask(REPORT, committed(folder, SOURCES | copies))
    assert found.answer.candidates == 3
    assert first(found) == "proj/optimizer.py"
    assert name.rpartition("/")[2] in notes(found)
    assert "3" in notes(found)


def test_a_frame_in_copied_code_is_not_lost(tmp_path: Path) -> None:
    """A repository that consists of nothing else is searched all the same."""
    found = ask(REPORT, write(tmp_path / "only", {"vendor/optimizer.py": SOURCES["proj/optimizer.py"]}))
    assert first(found) == "vendor/optimizer.py"


def test_binary_content_and_other_encodings(repository: Path) -> None:
    (repository / "proj/noise.py").write_bytes(bytes(range(256)) * 40)
    (repository / "proj/latin.py").write_bytes(b"# Gr\xfc\xdfe\nclass Greeting:\n    text = 'gr\xfc\xdfe'\n")
    (repository / "proj/marked.py").write_bytes(b"\xef\xbb\xbfclass Marked: ...\r\n")
    (repository / "proj/empty.py").write_bytes(b"")
    found = ask("Greeting is wrong\n\nThe class Greeting shows the wrong text.", repository)
    assert first(found) == "proj/latin.py"
    assert found.answer.candidates == 7


def test_links_that_lead_in_circles(repository: Path) -> None:
    (repository / "proj/loop").symlink_to(repository / "proj", target_is_directory=True)
    (repository / "proj/again.py").symlink_to("again.py")
    (repository / "proj/copy.py").symlink_to("optimizer.py")
    (repository / "proj/gone.py").symlink_to("nowhere.py")
    assert first(ask(REPORT, repository)) == "proj/optimizer.py"
    shutil.rmtree(repository / ".git")
    found = ask(REPORT, repository)
    assert found.answer.candidates == 3
    assert "link" in notes(found)


def test_without_the_git_program(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = ask(REPORT, repository)
    assert first(found) == "proj/optimizer.py"
    assert "history" in notes(found)
    with pytest.raises(UsageError, match="git"):
        ask(REPORT, repository, "HEAD")


def test_an_unknown_revision(repository: Path) -> None:
    with pytest.raises(UsageError, match="no-such-branch"):
        ask(REPORT, repository, "no-such-branch")


@pytest.mark.parametrize(
    "rev", ["--output=/tmp/x", "-n", "--all", "HEAD\nHEAD", "", "HEAD:proj", "HEAD..HEAD"]
)
def test_a_revision_that_is_none(repository: Path, rev: str) -> None:
    with pytest.raises(UsageError):
        ask(REPORT, repository, rev)


def test_a_revision_of_a_folder_without_git(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"not in a git repository.*--rev"):
        ask(REPORT, write(tmp_path / "plain", SOURCES), "main")


def test_an_older_revision_is_searched_as_it_was(repository: Path) -> None:
    (repository / "proj/optimizer.py").unlink()
    write(repository, {"proj/moved.py": SOURCES["proj/optimizer.py"]})
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Move")
    assert first(ask(REPORT, repository)) == "proj/moved.py"
    assert first(ask(REPORT, repository, "HEAD~1")) == "proj/optimizer.py"


def test_changes_that_are_not_committed_count(repository: Path) -> None:
    ask(REPORT, repository)
    write(repository, {"proj/extra.py": "class Warmup:\n    def schedule(self): ...\n"})
    (repository / "proj/trainer.py").write_text(
        "class Renamed:\n    def train(self): ...\n", encoding="utf-8"
    )
    assert first(ask("Warmup.schedule is off", repository)) == "proj/extra.py"
    assert first(ask("Renamed.train hangs", repository)) == "proj/trainer.py"


@pytest.mark.parametrize(
    "name", ["new\nline.py", 'quo"te.py', "bl ank.py", "tab\t.py", "ünï.py", "-rf.py", "$(x).py"]
)
def test_odd_file_names(repository: Path, name: str) -> None:
    write(repository, {f"proj/{name}": "class Schedule:\n    def warmup_fraction(self): ...\n"})
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Odd")
    for rev in (None, "HEAD"):
        found = ask("Schedule.warmup_fraction is off", repository, rev)
        assert first(found) == f"proj/{name}"
        assert "\n" + name.partition("\n")[2] not in str(found) or "\n" not in name


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_a_file_name_that_is_not_utf8(repository: Path) -> None:
    file = os.fsencode(repository) + b"/proj/na\xefve.py"
    with open(file, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a path of bytes
        stream.write("class Naive:\n    def guess_label(self): ...\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Bytes")
    for rev in (None, "HEAD"):
        found = ask("Naive.guess_label is off", repository, rev)
        assert os.fsencode(first(found)) == b"proj/na\xefve.py"
        assert "ve.py" in str(found)
        found.json().encode("utf-8")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"does not exist.*--repo"):
        ask(REPORT, tmp_path / "nowhere")


def test_a_file_instead_of_a_folder(repository: Path) -> None:
    with pytest.raises(UsageError, match=r"is a file.*--repo"):
        ask(REPORT, repository / "proj/trainer.py")


@pytest.mark.parametrize("with_git", [True, False])
def test_no_python_file_at_all(tmp_path: Path, with_git: bool) -> None:
    folder = tmp_path / "words_only"
    folder.mkdir()
    (committed if with_git else write)(folder, {"README.md": "# words\n"})
    with pytest.raises(UsageError, match=r"[Nn]o Python file"):
        ask(REPORT, folder)


def test_only_tests_are_there(tmp_path: Path) -> None:
    folder = write(tmp_path / "only_tests", {"tests/test_momentum.py": "def test_momentum(): ...\n"})
    with pytest.raises(UsageError, match="--tests"):
        ask(REPORT, folder)
    assert first(ask(REPORT, folder, tests=True)) == "tests/test_momentum.py"


def test_the_place_for_the_index_cannot_be_written(repository: Path) -> None:
    (repository / ".netmend").write_text("a file is in the way", encoding="utf-8")
    found = ask(REPORT, repository)
    assert first(found) == "proj/optimizer.py"
    assert "could not be kept" in notes(found)


def test_a_damaged_index_is_made_anew(repository: Path) -> None:
    ask(REPORT, repository)
    for file in (repository / ".netmend/locate").glob("*.sqlite"):
        file.write_bytes(b"not a database at all" * 100)
    assert first(ask(REPORT, repository)) == "proj/optimizer.py"


def test_nothing_is_written_where_no_index_is_wanted(repository: Path) -> None:
    ask(REPORT, repository, cache=False)
    assert not (repository / ".netmend").exists()


def test_the_index_does_not_show_up_in_git(repository: Path) -> None:
    ask(REPORT, repository)
    assert git(repository, "status", "--porcelain") == ""


def test_a_file_that_is_huge_or_of_one_line(repository: Path) -> None:
    write(repository, {"proj/table.py": "TABLE = [" + "1234, " * 400_000 + "]\n"})
    assert first(ask(REPORT, repository)) == "proj/optimizer.py"
