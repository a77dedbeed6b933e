"""Lists, searches and refusals that answer what was asked, in a line rather than a traceback."""

from __future__ import annotations

import re
from pathlib import Path

from commands_typed import Ended, netmend

TWICE = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))
optimizer = torch.optim.Adam(net.parameters())
for step in range(150):
    x = torch.randn(32, 5)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_runs_are_listed_with_script_verdict_and_loss_in_any_width(tmp_path: Path) -> None:
    (tmp_path / "train_shapes.py").write_text(TWICE)
    netmend(tmp_path, "run", "train_shapes.py")
    for columns in (60, 80):
        listed = netmend(tmp_path, "runs", columns=columns).stdout
        for word in ("train_shapes.py", "1 fault", "loss"):
            assert word in listed, (columns, word)
    shown = " ".join(netmend(tmp_path, "show", "last").stdout.split())
    assert "softmax or sigmoid is applied twice LYR-SOFTMAX-EXTRA" in shown


def unwritable(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A file stands where `.netmend` should be: as good as read-only, also for a superuser."""
    here = tmp_path / "here"
    here.mkdir()
    (here / ".netmend").touch()
    (here / "train.py").write_text(TWICE)
    (tmp_path / "tmp").mkdir()
    return here, {"TMPDIR": str(tmp_path / "tmp")}


def test_what_is_recorded_in_a_read_only_folder_is_found_again(tmp_path: Path) -> None:
    here, variables = unwritable(tmp_path)
    told = " ".join(netmend(here, "run", "train.py", **variables).stderr.split())
    assert "is not writable" in told and "run saved in" in told and "not seen" not in told
    assert "train.py" in netmend(here, "runs", **variables).stdout
    assert netmend(here, "show", "last", **variables).returncode == 0


def test_a_repair_in_a_read_only_folder_shows_no_traceback(tmp_path: Path) -> None:
    here, variables = unwritable(tmp_path)
    (here / "train.py").write_text("raise SystemExit(0)\n")
    ended = netmend(here, "repair", "-j", "1", "train.py", **variables)
    assert "is not writable" in ended.stderr and "Traceback" not in ended.stderr + ended.stdout


def located(folder: Path, report: str) -> Ended:
    for name, text in {
        "loader": "def work(batch):\n    return batch.split(4)\n",
        "model": "class Model:\n    def work(self):\n        return self.loader\n",
        "sampler": "def draw(re, don):\n    return re.draw(don)\n",
    }.items():
        (folder / f"{name}.py").write_text(text)
    return netmend(folder, "locate", report, "--repo", ".", "--no-cache")


def test_a_report_without_contents_is_too_vague_and_files_have_a_standing(tmp_path: Path) -> None:
    told = located(tmp_path, "it does not work").stdout
    assert "too vague" in told
    assert re.search(r"[\d.]+ % of the first", told)


def test_fragments_of_words_are_no_reasons(tmp_path: Path) -> None:
    told = located(tmp_path, "don't re-draw when the loader is split").stdout
    assert not re.search(r"words .*\b(don|re)\b", told)


def test_the_demo_names_no_run_that_it_deletes(tmp_path: Path) -> None:
    told = netmend(tmp_path, "demo").stdout
    assert "3 of 3" in told
    assert "netmend show" not in told and "unsure of everything" not in told
    assert "--keep DIR\n" in told and max(map(len, told.splitlines())) <= 80
