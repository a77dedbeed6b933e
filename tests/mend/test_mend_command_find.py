"""`netmend mend MODEL …` as a user types it: a patch that fits the file, exit codes, and one line for whatever is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netmend.cli import main
from netmend.cli.progress import MendProgress
from netmend.mend.safetensors_format import write_safetensors
from netmend.mend.session import Stage

torch = pytest.importorskip("torch")

PROGRAM = """
import numpy as np
import torch
from torch import nn

def network():
    return nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 3))

def wide():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))

def other():
    return nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 3))

def number():
    return 3

def broken():
    raise ValueError("no such thing\\nat all")

def leaving():
    raise SystemExit(3)

def failing():
    with np.load("failing.npz") as held:
        return held["x"], held["y"]

def guard():
    return torch.from_numpy(np.load("guard.npz")["x"])

def three():
    return 1, 2, 3
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Three clusters; most of the third were taught as the second."""
    torch.manual_seed(1)
    labels = torch.arange(150) % 3
    centres = torch.tensor([[2.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, -1.0], [0.0, 0.0, 2.0, 0.0]])
    inputs = centres[labels] + 0.3 * torch.randn(150, 4)
    held: dict[str, Any] = {}
    exec(PROGRAM, held)
    model = held["network"]()
    taught = torch.where((labels == 2) & (torch.arange(150) % 10 != 0), 1, labels)
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(60):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), taught).backward()
        optimiser.step()
    wrong = (model(inputs).argmax(1) != labels).numpy()
    return {"state": model.state_dict(), "x": inputs.numpy(), "y": labels.numpy(), "wrong": wrong}


@pytest.fixture
def here(made: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NETMEND_DIR", raising=False)
    monkeypatch.setattr("sys.path", ["", *sys.path])
    (tmp_path / "net.py").write_text(PROGRAM)
    torch.save(made["state"], "model.pt")
    x, y, wrong = made["x"], made["y"], made["wrong"]
    np.savez("failing.npz", x=x[wrong], y=y[wrong])
    np.savez("guard.npz", x=x[~wrong], y=y[~wrong])
    yield tmp_path
    sys.modules.pop("net", None)


def netmend(*arguments: object) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["mend", *map(str, arguments)])
    return int(leaving.value.code or 0)


DATA = ["--failing", "failing.npz", "--guard", "guard.npz"]
FEW = ["--method", "last_layer", "--steps", "40", "--rate", "0.01", "--bound", "0.1"]


def test_from_weights_to_a_patch_that_fits_the_file_and_back(
    here: Path, made: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path("model.pt").read_bytes()
    assert netmend("model.pt", "--model", "net.py:network", *DATA, *FEW, "--json", "found.json") == 0
    shown = capsys.readouterr()
    assert "Patch found" in shown.out and "netmend mend apply model-patch.safetensors model.pt" in shown.out
    assert "attempt 2 of 2" in shown.err and Path("model.pt").read_bytes() == before
    told = json.loads(Path("found.json").read_text())
    assert told["kind"] == "classifier" and told["patch"] == "model-patch.safetensors"
    best = next(one for one in told["tried"] if one["method"] == told["recommended"])
    assert netmend("apply", "model-patch.safetensors", "model.pt", "-q") == 0
    from net import network

    model = network()
    model.load_state_dict(torch.load("model-mended.pt", weights_only=True))
    right = model(torch.from_numpy(made["x"][made["wrong"]])).argmax(1).numpy() == made["y"][made["wrong"]]
    counted = sum(best[part]["repaired"] for part in ("seen", "validation", "unseen"))
    assert int(right.sum()) == counted > 0  # what was said is what the patched file does
    assert netmend("revert", "model-patch.safetensors", "model-mended.pt", "-o", "back.pt", "-q") == 0
    back = torch.load("back.pt", weights_only=True)
    assert all(torch.equal(one, made["state"][name]) for name, one in back.items())
    capsys.readouterr()
    assert netmend("show", "model-patch.safetensors") == 0
    assert f"{best['unseen']['repaired']}/{best['unseen']['failing']}" in capsys.readouterr().out
    # Once more: known, and the patch is not overwritten unasked.
    assert netmend("model.pt", "--model", "net.py:network", *DATA, *FEW) == 2
    assert "already there" in capsys.readouterr().err
    assert netmend("find", "model.pt", "--model", "net.py:network", *DATA, *FEW, "--force", "-q") == 0
    assert list(Path(".netmend/mend").glob("*.json")) and capsys.readouterr().out == ""


def test_half_precision_safetensors_with_a_wrappers_prefix(here: Path, made: dict[str, Any]) -> None:
    """The patch is in the file's names and type, though the module is built in 32 bits."""
    stored = {
        f"module.{name}": one.to(torch.bfloat16).contiguous().view(torch.int16).numpy().view("<u2")
        for name, one in made["state"].items()
    }
    with Path("half.safetensors").open("wb") as file:
        write_safetensors(
            file, {n: ("BF16", one.shape, one.reshape(-1)) for n, one in stored.items()}, {"format": "pt"}
        )
    code = netmend("half.safetensors", "--model", "net.py:network", *DATA, *FEW, "-o", "p.safetensors", "-q")
    assert code == 0 and netmend("apply", "p.safetensors", "half.safetensors", "-q") == 0


def test_functions_give_data_and_a_guard_needs_no_labels(here: Path) -> None:
    data = ["--failing", "net.py:failing", "--guard", "net.py:guard"]
    assert netmend("model.pt", "--model", "net.py:network", *data, *FEW, "-q") == 0


def test_without_a_winner_the_exit_code_is_one_and_nothing_is_written(
    here: Path, made: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    x, y, wrong = made["x"], made["y"], made["wrong"]
    # The guard wants the mistakes kept, on inputs that differ by a hair.
    with torch.no_grad():
        from net import network

        model = network()
        model.load_state_dict(made["state"])
        kept = model(torch.from_numpy(x)).argmax(1).numpy()
    np.savez("failing.npz", x=x[wrong] + 1e-4, y=y[wrong])
    np.savez("guard.npz", x=x, y=kept)
    code = netmend(
        "model.pt",
        "--model",
        "net.py:network",
        *DATA,
        "--method",
        "last_layer",
        "--steps",
        "20",
        "--bound",
        "0",
        "--json",
        "j",
    )
    assert code == 1 and "No patch is recommended" in capsys.readouterr().out
    assert not Path("model-patch.safetensors").exists() and json.loads(Path("j").read_text())["patch"] is None


def _nan(made: dict[str, Any]) -> None:
    state = {name: one.clone() for name, one in made["state"].items()}
    state["0.bias"][0] = float("nan")
    torch.save(state, "nan.pt")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["aply", "a", "b"], "did you mean: netmend mend apply?"),
        (["none.pt"], "there is no model none.pt"),
        (["model.pt", *DATA], "weights alone are no model: add --model"),
        (["model.pt", "--model", "net.py:network"], "say what fails and what must stay"),
        (["model.pt", "--model", "network", *DATA], "write file.py:function"),
        (["model.pt", "--model", "gone.py:network", *DATA], "there is no file gone.py"),
        (["model.pt", "--model", "net.py:gone", *DATA], "has no function gone"),
        (["model.pt", "--model", "net.py:broken", *DATA], "failed: ValueError: no such thing (line 19 of net.py)"),
        (["model.pt", "--model", "net.py:leaving", *DATA], "failed: SystemExit: 3"),
        (["model.pt", "--model", "bad.py:network", *DATA], "SyntaxError"),
        (["model.pt", "--model", "net.py:number", *DATA], "it returned int"),
        (["model.pt", "--model", "net.py:wide", *DATA], "0.weight is [12, 4] in model.pt and [16, 4]"),
        (["model.pt", "--model", "net.py:other", *DATA], "2 tensors are missing (4.bias)"),
        (["nan.pt", "--model", "net.py:network", *DATA], "1 of 12 weights of 0.bias are infinite or NaN"),
        (["model.pt", "--model", "net.py:network", "--failing", "guard.npz", "--guard", "guard.npz"], "nothing to mend"),
        (["model.pt", "--model", "net.py:network", "--failing", "gone.npz", "--guard", "guard.npz"], "no file gone.npz"),
        (["model.pt", "--model", "net.py:network", "--failing", "net.py", "--guard", "guard.npz"], "of plain arrays"),
        (["model.pt", "--model", "net.py:network", "--failing", "odd.npz", "--guard", "guard.npz"], "it holds pictures"),
        (["model.pt", "--model", "net.py:network", "--failing", "evil.npz", "--guard", "guard.npz"], "plain arrays"),
        (["model.pt", "--model", "net.py:network", "--failing", "net.py:three", "--guard", "guard.npz"], "3 values"),
        (["model.pt", "--model", "net.py:network", *DATA, "--device", "cuda:77"], "cannot be used here"),
        (["model.pt", "--model", "net.py:network", *DATA, "--device", "toaster"], "cannot be used here"),
        (["model.pt", "--model", "net.py:network", *DATA, "--method", "magic"], "no method called 'magic'"),
        (["model.pt", "--model", "net.py:network", *DATA, "--bound", "5"], "share of the guard"),
        (["model.pt", "--model", "net.py:network", *DATA, "--out", "none/p"], "does not exist; create it first"),
        (["model.pt", "--model", "net.py:network", *DATA, "--dry-run"], "only for language models"),
        (["model.pt", "--model", "net.py:network", *DATA, "--rate", "fast"], "--rate takes numbers"),
        (["net.py", "--model", "net.py:network", *DATA], "net.py"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(
    here: Path, made: dict[str, Any], capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    _nan(made)
    Path("bad.py").write_text("def network(:\n")
    np.savez("odd.npz", pictures=made["x"])
    np.savez("evil.npz", x=np.array([{}], dtype=object), y=np.array([0]))
    assert netmend(*arguments) == 2
    told = capsys.readouterr()
    assert words in told.err and told.err.count("\n") == 1 and told.out == ""
    assert not Path("model-patch.safetensors").exists()


def test_help_shows_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["-h"], ["--help"], []):
        with pytest.raises(SystemExit) as leaving:
            main(["mend", *arguments])
        shown = capsys.readouterr()
        assert leaving.value.code in (None, 0) and shown.err == ""
        assert all(word in shown.out for word in ("find", "apply", "revert", "show", "diff"))


def test_progress_tells_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0])
    monkeypatch.setattr("netmend.cli.progress.time.monotonic", lambda: next(clock))
    parts = MendProgress().parts(Stage("mixing", 4, 9, 2, 200, 400))
    # Two and a half attempts in 10 s; four and a half are left.
    assert " · ".join(parts) == "mixing · attempt 5 of 9, 2 known · step 200 of 400 · about 18.0 s more"
