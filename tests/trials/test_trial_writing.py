"""What trials write: freely in their own copy, nothing in the user's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trying import Project

from netmend.trials import workspace
from netmend.trials.guards import Guards
from netmend.trials.trial import FAILED, FINISHED, Limits

WAYS = {
    "open": "open(place / 'old.txt', 'w')",
    "append": "open(place / 'old.txt', 'a')",
    "new": "open(place / 'new.txt', 'x')",
    "both": "open(place / 'old.txt', 'r+')",
    "os.open": "os.open(place / 'new.txt', os.O_CREAT | os.O_WRONLY)",
    "pathlib": "(place / 'new.txt').write_text('1')",
    "touch": "(place / 'old.txt').touch()",
    "unlink": "(place / 'old.txt').unlink()",
    "mkdir": "(place / 'sub').mkdir()",
    "chmod": "(place / 'old.txt').chmod(0o600)",
    "os.rename": "os.rename(place / 'old.txt', place / 'other.txt')",
    "os.replace": "os.replace('mine.txt', place / 'old.txt')",
    "os.truncate": "os.truncate(place / 'old.txt', 0)",
    "os.utime": "os.utime(place / 'old.txt', (0, 0))",
    "shutil.copy": "shutil.copy('mine.txt', place / 'old.txt')",
    "shutil.move": "shutil.move(place / 'old.txt', 'stolen.txt')",
    "shutil.rmtree": "shutil.rmtree(place / 'full')",
    "np.save": "np.save(place / 'new.npy', np.zeros(3))",
    "np.savetxt": "np.savetxt(place / 'old.txt', np.zeros(3))",
    "torch.save": "torch.save(torch.zeros(3), place / 'old.txt')",
    "torch.save by name": "torch.save(obj=torch.zeros(3), f=str(place / 'new.pt'))",
    "torch.jit.save": "torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), place / 'new.pt')",
    "pickle": "pickle.dump(1, (place / 'new.pkl').open('wb'))",
    "link": "os.link(place / 'old.txt', 'same.txt')",
    "through a link": "os.symlink(place / 'old.txt', 'same.txt'); open('same.txt', 'w')",
    "after chdir": "os.chdir(place); open('old.txt', 'w')",
    "from below": "os.chdir(place / 'full'); open('../old.txt', 'w')",
    "relative to a descriptor": "os.remove('old.txt', dir_fd=os.open(place, os.O_RDONLY))",
    "in a thread": "run_in_thread(lambda: open(place / 'old.txt', 'w'))",
}
HEAD = """\
import os, pathlib, pickle, shutil, sys, threading
import numpy as np
import torch

def run_in_thread(work):
    caught = []
    def guarded():
        try:
            work()
        except BaseException as problem:
            caught.append(problem)
    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    for problem in caught:
        raise problem

place = pathlib.Path(sys.argv[1])
here = os.getcwd()
pathlib.Path("mine.txt").write_text("mine")
"""


def test_nothing_is_written_into_the_users_folder(project: Project) -> None:
    """All ways in one program; each is refused with an error that a program would expect there."""
    body = "".join(
        f"try:\n    {way}\n    print('DONE', {name!r})\nexcept PermissionError as problem:\n"
        f"    assert 'netmend' in str(problem), problem\n    print('refused', {name!r})\nos.chdir(here)\n"
        "pathlib.Path('same.txt').unlink(missing_ok=True)\n"
        for name, way in WAYS.items()
    )
    project.write("old.txt", "old")
    project.write("full/inside.txt", "inside")
    project.write("train.py", HEAD + body)
    outcome = project.tried(arguments=[str(project.folder)])
    assert outcome.status == FINISHED, outcome.output
    told = [line.split(" ", 1) for line in outcome.output.splitlines()]
    assert [name for verdict, name in told if verdict == "DONE"] == []
    assert len(told) == len(WAYS)
    assert f"writing {project.folder}/old.txt" in outcome.notes
    assert f"changing {project.folder}/full" in outcome.notes


def test_refusal_is_the_programs_failure(project: Project) -> None:
    outcome = project.tried(f"open({str(project.folder / 'model.pt')!r}, 'wb')\n")
    assert (outcome.status, outcome.exit_code) == (FAILED, 1)
    assert outcome.exception.startswith("PermissionError: netmend: a trial may not write outside its copy")
    assert outcome.notes == (f"writing {project.folder}/model.pt",)


def test_everything_else_can_be_written(project: Project, tmp_path: Path) -> None:
    """Its copy by relative names and by `__file__`, temporary files, places outside of the user's folder."""
    project.write("data/old.txt", "old")
    program = f"""\
import os, pathlib, shutil, sqlite3, sys, tempfile
import numpy as np
import torch
open("new.txt", "w").write("1")
pathlib.Path("data/old.txt").write_text("changed")
os.makedirs("out/deep")
torch.save(torch.zeros(3), "out/model.pt")
torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), "out/scripted.pt")
np.save("out/deep/values.npy", np.zeros(3))
os.rename("new.txt", "out/new.txt")
shutil.rmtree("out/deep")
sqlite3.connect("out/log.db").execute("create table t (x)")
pathlib.Path(__file__).with_name("beside.txt").write_text("1")
tempfile.TemporaryFile().write(b"1")
with tempfile.TemporaryDirectory() as folder:
    open(os.path.join(folder, "x"), "w")
open({str(tmp_path / "elsewhere.txt")!r}, "w").write("1")
open(os.devnull, "w")
print(sorted(os.listdir("out")), open("data/old.txt").read())
"""
    outcome = project.tried(program)
    assert (outcome.status, outcome.notes) == (FINISHED, ()), outcome
    assert outcome.output == "['log.db', 'model.pt', 'new.txt', 'scripted.pt'] changed"
    assert (tmp_path / "elsewhere.txt").exists()
    left = {path.name for path in Path(outcome.root).rglob("*") if path.is_file()}
    assert left == {"train.py", "old.txt", "new.txt", "beside.txt"}  # sources only


def test_large_data_is_linked_and_safe(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_COPIED_BYTES", 1000)
    (project.folder / "large.bin").write_bytes(b"x" * 2000)
    program = """\
import os
print(len(open("large.bin", "rb").read()), os.path.islink("large.bin"))
try:
    open("large.bin", "wb")
except PermissionError:
    print("refused")
os.remove("large.bin")  # its own link
print(os.path.exists("large.bin"))
"""
    assert project.tried(program).output.splitlines() == ["2000 True", "refused", "False"]


def test_network(project: Project) -> None:
    program = """\
import socket
for connect in (
    lambda: socket.create_connection(("198.51.100.1", 80), timeout=0.05),
    lambda: socket.getaddrinfo("example.invalid", 80),
    lambda: socket.gethostbyname("example.invalid"),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("198.51.100.1", 9)),
):
    try:
        connect()
    except OSError as problem:
        print("netmend" in str(problem))
server = socket.create_server(("127.0.0.1", 0))  # this machine is no network
socket.create_connection(server.getsockname())
socket.getaddrinfo("localhost", 80)
"""
    outcome = project.tried(program)
    assert outcome.status == FINISHED, outcome
    assert outcome.output.splitlines() == ["True"] * 4
    assert outcome.notes == ("connecting to 198.51.100.1", "connecting to example.invalid")
    allowed = project.tried(limits=Limits(network=True))
    assert allowed.status == FINISHED
    assert "True" not in allowed.output
    assert allowed.notes == ()
    uncaught = project.tried(
        "import urllib.request\nurllib.request.urlopen('http://example.invalid', timeout=1)\n"
    )
    assert uncaught.status == FAILED
    assert "allow it with --network" in uncaught.exception


def test_places(tmp_path: Path) -> None:
    """Guards by themselves, without a process that they would change for good."""
    own, user, other = tmp_path / "user" / ".netmend" / "t", tmp_path / "user", tmp_path / "username"
    for folder in (own, other):
        folder.mkdir(parents=True)
    guards = Guards(str(own), (str(user),), False, lambda what: None)
    (own / "out").symlink_to(user)
    assert guards.is_protected(user / "x")
    assert guards.is_protected(os.fsencode(user / "x"))
    assert guards.is_protected(user)
    assert guards.is_protected(own.parent)
    assert guards.is_protected(own / "out" / "x")
    assert guards.is_protected(own / "out")
    assert not guards.is_protected(own / "out", follow=False)
    assert not guards.is_protected(own / "x")
    assert not guards.is_protected(other / "x")  # a name that only begins alike
    assert not guards.is_protected(3)
    everything = Guards(str(own), ("/",), False, lambda what: None)
    assert everything.is_protected("/etc/passwd")
    assert not everything.is_protected(tmp_path / "x") or not str(tmp_path).startswith(everything.scratch)
