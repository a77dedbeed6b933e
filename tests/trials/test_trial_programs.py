"""Programs of all kinds run in a trial as they run for the user."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest
from trying import TINY, Project

from netmend.trials.child import use_copy
from netmend.trials.trial import FAILED, FINISHED, Limits

SEEDED = """\
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

random.seed(1)
np.random.seed(2)
torch.manual_seed(3)
print("python", random.random(), random.Random(4).random())
print("numpy", np.random.rand(), np.random.RandomState(5).rand(), np.random.default_rng(6).random())
print("bits", np.random.Generator(np.random.PCG64(7)).random(), np.random.default_rng([8, 9]).random())
x = torch.from_numpy(np.random.randn(48, 4)).float()
y = (x[:, 0] > 0).long()
train, test = random_split(TensorDataset(x, y), [32, 16], generator=torch.Generator().manual_seed(42))
print("split", train.indices[:4])
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters())
for epoch in range(3):
    for inputs, labels in DataLoader(train, batch_size=8, shuffle=True, num_workers=epoch):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", repr(loss.item()))
print("sets", list({"a", "b", "c", "d"}))
"""
UNSEEDED = """\
import random
import numpy as np
import torch
print("values", random.random(), np.random.rand(), torch.rand(1).item())
print("more", random.Random().random(), np.random.default_rng().random(), np.random.RandomState().rand())
print("again", torch.Generator().initial_seed(), torch.randperm(10).tolist())
"""


def test_seed_0_is_the_plain_run_bit_for_bit(project: Project) -> None:
    outcome = project.tried(SEEDED)
    assert outcome.status == FINISHED
    assert outcome.output == project.plain("train.py")


def test_other_seeds_differ_in_every_line_and_can_be_repeated(project: Project) -> None:
    own = project.tried(SEEDED).output.splitlines()
    first = project.tried(seed=1, pattern="a").output.splitlines()  # the pattern makes it another trial
    again = project.tried(seed=1).output.splitlines()
    other = project.tried(seed=2).output.splitlines()
    assert first == again
    numbers = own[:-1]
    for one, two, three in zip(numbers, first, other, strict=False):
        assert len({one, two, three}) == 3
    assert own[-1] == first[-1] == other[-1]  # the order of sets is no seed of the program's


def test_program_without_seeds_can_be_repeated(project: Project) -> None:
    for seed in (0, 3):
        one = project.tried(UNSEEDED, seed=seed, pattern="a")
        two = project.tried(seed=seed)
        assert one.status == FINISHED
        assert one.output == two.output
    assert project.tried(seed=0).output != project.tried(seed=3).output


def test_data_loader_with_workers(project: Project) -> None:
    program = TINY.replace(
        "for step in range(20):",
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True, num_workers=2)\n"
        "for step, (x, y) in enumerate(batch for _ in range(5) for batch in loader):",
    )
    outcome = project.tried(program)
    assert (outcome.status, outcome.steps) == (FINISHED, 20)
    assert len(outcome.series["printed:val acc"]) == 4


def test_script_in_a_subfolder_with_packages(project: Project) -> None:
    """Its own folder comes first on the path, and data is found from where the user starts it."""
    project.write("data/numbers.txt", "1 2 3")
    project.write("code/models/__init__.py", "from .deep.net import make\n")
    project.write("code/models/deep/__init__.py", "")
    project.write("code/models/deep/net.py", "import helper\n\ndef make():\n    return helper.NAME\n")
    project.write("code/helper.py", "NAME = 'net'\n")
    program = (
        "import sys\nfrom models import make\nprint(make(), open('data/numbers.txt').read(), sys.argv[1:])\n"
    )
    outcome = project.tried(program, script="code/train.py", arguments=["--lr", "0.1"])
    assert outcome.output == "net 1 2 3 ['--lr', '0.1']"
    assert outcome.output == project.plain("code/train.py", "--lr", "0.1")


def test_module(project: Project) -> None:
    project.write("package/__init__.py", "")
    project.write("package/net.py", "WIDTH = 4\n")
    program = "from .net import WIDTH\nprint(__name__, __package__, WIDTH)\n"
    outcome = project.tried(program, script="package/train.py")
    assert outcome.status == FAILED  # as it would for the user
    outcome = project.tried(script="package.train", is_module=True)
    assert outcome.output == project.plain("-m", "package.train") == "__main__ package 4"
    outcome = project.tried("print('main of', __package__)\n", script="package/__main__.py")
    assert project.tried(script="package", is_module=True).output == "main of package"
    assert "no_such" in project.tried(script="no_such", is_module=True).exception


def test_texts_of_the_trial_are_what_runs(project: Project) -> None:
    project.write("net.py", "WIDTH = 4\n")
    project.write("train.py", "import net\nprint('width', net.WIDTH)\n")
    assert project.tried().output == "width 4"
    assert project.tried(texts=(("net.py", "WIDTH = 8\n"),)).output == "width 8"


def test_modules_are_taken_from_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editable install, or PYTHONPATH: Python finds the project's packages by their full path, which is not the copy's."""
    user, copy = tmp_path / "user", tmp_path / "copy"
    (copy / "src" / "package").mkdir(parents=True)
    installed = str(user / ".venv" / "lib")  # not copied
    finder = types.ModuleType("__editable___project_finder")
    finder.MAPPING = {"package": str(user / "src" / "package")}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    monkeypatch.setattr(sys, "path", [str(user), str(user / "src"), installed, "/usr/lib"])
    monkeypatch.setenv("PYTHONPATH", f"{user}/src:/elsewhere")
    use_copy(str(user), str(copy))
    assert sys.path == [str(copy), str(copy / "src"), installed, "/usr/lib"]
    assert os.environ["PYTHONPATH"] == f"{copy}/src:/elsewhere"
    assert {"package": str(copy / "src" / "package")} == finder.MAPPING


def test_links(project: Project, tmp_path: Path) -> None:
    """Links to files and folders, inside and outside, dangling, in circles."""
    outside = tmp_path / "shared"
    (outside / "images").mkdir(parents=True)
    (outside / "images" / "a.txt").write_text("picture")
    (outside / "helper.py").write_text("NAME = 'helper'\n")
    project.write("data/b.txt", "number")
    for name, place in {
        "linked": outside,
        "again": project.folder / "data",
        "helper.py": outside / "helper.py",
        "nowhere": tmp_path / "gone",
        "circle": project.folder,
        "data/up": project.folder,
    }.items():
        (project.folder / name).symlink_to(place)
    program = """\
import helper
print(open("linked/images/a.txt").read(), open("again/b.txt").read(), helper.NAME, open("circle/data/b.txt").read())
open("again/c.txt", "w").write("in the copy")
print(open("data/c.txt").read())
try:
    open("linked/images/new.txt", "w")
except PermissionError:
    print("refused")
"""
    outcome = project.tried(program)
    assert outcome.output.splitlines() == ["picture number helper number", "in the copy", "refused"]
    assert sorted(path.name for path in outside.rglob("*")) == ["a.txt", "helper.py", "images"]
    assert outcome.notes == ("writing linked/images/new.txt",)


def test_data_beside_the_folder(project: Project, tmp_path: Path) -> None:
    """`../data` is found where the user has it, and cannot be changed either."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("beside")
    program = """\
import pathlib
print(open("../data/a.txt").read(), (pathlib.Path(__file__).resolve().parent.parent / "data" / "a.txt").exists())
open("../data/a.txt", "w")
"""
    outcome = project.tried(program)
    assert outcome.output.startswith("beside True")
    assert outcome.notes == ("writing ../data/a.txt",)
    assert (tmp_path / "data" / "a.txt").read_text() == "beside"


def test_unreadable_files(project: Project) -> None:
    """Root reads everything, so a file is taken away from between the listing and the copying, too."""
    secret = project.write("secret.txt", "x")
    secret.chmod(0)
    os.mkfifo(project.folder / "pipe")
    hidden = project.folder / "hidden"
    hidden.mkdir()
    hidden.chmod(0)
    try:
        outcome = project.tried("import os\nprint(os.path.exists('train.py'))\n")
    finally:
        hidden.chmod(0o700)
        secret.chmod(0o600)
    assert outcome.output == "True"


def test_program_that_changes_directory(project: Project) -> None:
    program = TINY + "import os\nos.makedirs('deep')\nos.chdir('deep')\nopen('x.txt', 'w').write('1')\n"
    outcome = project.tried(program)
    assert (outcome.status, outcome.steps) == (FINISHED, 20)
    program = TINY + "import os, shutil\nhere = os.getcwd()\nos.chdir('/')\nshutil.rmtree(here)\n"
    outcome = project.tried(program)  # its copy is its own to delete
    assert (outcome.status, outcome.steps) == (FINISHED, 20)


def test_end_of_the_interpreter(project: Project) -> None:
    """Threads are waited for, registered functions called, streams of the program's own flushed."""
    program = """\
import atexit, concurrent.futures, io, sys, threading, time
atexit.register(lambda: print("acc at exit 0.5"))
threading.Thread(target=lambda: (time.sleep(0.3), print("acc in thread 0.25"))).start()
pool = concurrent.futures.ThreadPoolExecutor(2)
pool.submit(time.sleep, 0.1)
sys.stdout.reconfigure(line_buffering=True)
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
print("acc of wrapper 0.75")
"""
    outcome = project.tried(program, limits=Limits(seconds=120))
    assert outcome.status == FINISHED, outcome
    found = {name: points[-1][1] for name, points in outcome.series.items()}
    assert found["printed:acc at exit"] == 0.5
    assert found["printed:acc in thread"] == 0.25
    assert found["printed:acc of wrapper"] == 0.75


def test_output_of_other_processes(project: Project) -> None:
    """Forks, and programs that are started, write where the trial looks, too; only the main process ends the trial."""
    program = """\
import multiprocessing, os, subprocess, sys
def work():
    print("fork acc 0.5")
process = multiprocessing.get_context("fork").Process(target=work)
process.start()
process.join()
subprocess.run([sys.executable, "-c", "print('sub acc 0.25')"], check=True)
if os.fork() == 0:
    sys.exit(3)
assert os.WEXITSTATUS(os.wait()[1]) == 3
print("name", multiprocessing.current_process().name, multiprocessing.parent_process())
print("main acc 1.0")
"""
    outcome = project.tried(program)
    assert outcome.status == FINISHED, outcome
    assert outcome.output == "name MainProcess None\nmain acc 1.0"
    assert outcome.last("printed:fork acc") == 0.5
    assert outcome.last("printed:sub acc") == 0.25
    assert outcome.last("printed:main acc") == 1.0


def test_users_own_measure(project: Project) -> None:
    project.write("old.txt", "0.125")
    program = TINY + "open('result.txt', 'w').write('epoch 3, score .75')\n"
    outcome = project.tried(program, pattern=r"val acc (\d\.\d+)", measure_file="result.txt")
    assert outcome.series["pattern"] == outcome.series["printed:val acc"]
    assert outcome.series["file"] == [[20, 0.75]]
    assert "file" not in project.tried(measure_file="old.txt").series  # lay there before
    named = project.tried(measure_file=str(project.folder / "result.txt"))
    assert named.series["file"] == [[20, 0.75]]


@pytest.mark.parametrize("seed", [0, 1])
def test_modules_that_hide_standard_ones(seed: int, project: Project) -> None:
    """A folder with names such as `queue.py` in it does harm to nobody but the program itself."""
    for name in ("queue", "random", "socket", "json", "netmend"):
        project.write(f"lib/{name}.py", "raise RuntimeError('not this one')\n")
    outcome = project.tried("print('acc 1')\n", script="lib/train.py", seed=seed)
    assert (outcome.status, outcome.output) == (FINISHED, "acc 1")
