"""`netmend mend apply|revert|show|diff` as a user types them, on files, shards and state dicts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from netmend.cli import main
from netmend.mend.safetensors_format import write_safetensors

torch = pytest.importorskip("torch")

FIRST = {
    "head.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "stem.bias": np.ones(4, dtype=np.float16),
}
SECOND = {
    "head.weight": np.array([[0, 1, 2], [3, 4, 5.5]], dtype=np.float32),
    "stem.bias": np.array([1, 1, 0.5, 1], dtype=np.float16),
}


def save(path: Path, arrays: dict[str, np.ndarray]) -> Path:
    names = {"float32": "F32", "float16": "F16"}
    with path.open("wb") as file:
        bits = {
            name: (names[str(one.dtype)], one.shape, one.reshape(-1).view(f"<u{one.itemsize}"))
            for name, one in arrays.items()
        }
        write_safetensors(file, bits, {"format": "pt"})
    return path


def netmend(*arguments: object) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["mend", *map(str, arguments)])
    return int(leaving.value.code or 0)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    first, second = save(tmp_path / "m.safetensors", FIRST), save(tmp_path / "n.safetensors", SECOND)
    (tmp_path / "patches").mkdir()
    patch = tmp_path / "patches" / "p.safetensors"
    assert netmend("diff", first, second, "--out", patch) == 0
    return {"first": first, "second": second, "patch": patch}


def test_apply_and_revert_write_new_files_and_leave_the_model(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = files["first"].read_bytes()
    capsys.readouterr()
    assert netmend("apply", files["patch"], files["first"], "--json", tmp_path / "a.json") == 0
    mended = tmp_path / "m-mended.safetensors"
    assert mended.read_bytes() == files["second"].read_bytes() and files["first"].read_bytes() == original
    assert "patch applied" in (words := capsys.readouterr().out) and "2 of 10 values (20.0 %)" in words
    told = json.loads((tmp_path / "a.json").read_text())
    assert (told["touched"], told["state"], told["written"]) == (2, "applied", str(mended))
    assert netmend("revert", files["patch"], mended, "--out", tmp_path / "back.safetensors", "-q") == 0
    assert (tmp_path / "back.safetensors").read_bytes() == original and capsys.readouterr().out == ""


def test_in_place_keeps_the_patch_beside_and_goes_back(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = files["first"].read_bytes()
    assert netmend("apply", "--in-place", files["patch"], files["first"]) == 0
    assert files["first"].read_bytes() == files["second"].read_bytes()
    (kept,) = tmp_path.glob("m.safetensors.netmend-*.patch")
    assert f"netmend mend revert --in-place {kept} {files['first']}\n" in capsys.readouterr().out
    files["patch"].unlink()
    assert netmend("revert", "--in-place", kept, files["first"]) == 0
    assert files["first"].read_bytes() == original
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["apply", "{patch}", "{second}"], "the patch is already in"),
        (["revert", "{patch}", "{first}"], "is not in"),
        (["apply", "{first}", "{second}"], "but no patch"),
        (["apply", "{patch}", "{first}", "--out", "{first}"], "use --in-place"),
        (["apply", "{patch}", "{first}", "--out", "{patch}"], "the patch itself"),
        (["apply", "{patch}", "{first}", "--out", "{second}"], "--force"),
        (["apply", "{patch}", "{first}", "--out", "x", "--in-place"], "exclude each other"),
        (["apply", "{patch}", "{first}", "--out", "none/x"], "create it first"),
        (["apply", "{patch}", "nothing.safetensors"], "there is no model"),
        (["apply", "nothing.safetensors", "{first}"], "there is no patch file"),
        (["diff", "{first}", "{first}", "--out", "same"], "the same weights"),
        (["diff", "{patch}", "{first}", "--out", "same"], "is a patch already"),
        (["diff", "{first}", "{second}", "--out", "{patch}"], "--force"),
        (["show", "{first}"], "but no patch"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    before = {path: path.read_bytes() for path in files.values()}
    capsys.readouterr()
    assert netmend(*(one.format(**files) for one in arguments)) == 2
    told = capsys.readouterr()
    assert words in told.err and told.err.count("\n") == 1 and told.out == ""
    assert all(path.read_bytes() == held for path, held in before.items())


def test_swapped_arguments_are_told(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.pt"
    torch.save({"head.weight": torch.zeros(2, 3)}, model)
    for command in ("apply", "revert", "show", "diff"):
        for given in (model, files["first"]):
            capsys.readouterr()
            assert netmend(command, given, files["patch"]) == 2
            assert f"netmend mend {command} {files['patch']} {given}" in capsys.readouterr().err


def test_another_model_is_refused(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = save(tmp_path / "later.safetensors", {**FIRST, "head.weight": FIRST["head.weight"] + 1})
    assert netmend("apply", files["patch"], later) == 2
    assert "another model, or another version of it" in capsys.readouterr().err
    assert not (tmp_path / "later-mended.safetensors").exists()


def test_show_and_diff_tell_what_changes(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert netmend("show", files["patch"], files["second"]) == 0
    shown = capsys.readouterr().out
    assert "head.weight" in shown and "applied to this model" in shown
    assert netmend("diff", files["patch"], files["first"], "--json", tmp_path / "d.json") == 0
    shown = capsys.readouterr().out
    assert "not applied to this model" in shown and "head.weight[1, 2]" in shown and "5.5" in shown
    told = json.loads((tmp_path / "d.json").read_text())
    assert [(one["name"], one["place"], one["new"]) for one in told["largest"]] == [
        ("head.weight", [1, 2], 5.5),
        ("stem.bias", [2], 0.5),
    ]


def sharded(folder: Path, arrays: dict[str, np.ndarray]) -> Path:
    folder.mkdir()
    mapped = {}
    for number, (name, array) in enumerate(arrays.items(), start=1):
        file = f"model-0000{number}-of-00002.safetensors"
        save(folder / file, {name: array})
        mapped[name] = file
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": mapped}))
    (folder / "config.json").write_text("{}")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".patch"}


def test_shards_are_patched_as_one_model(files: dict[str, Path], tmp_path: Path) -> None:
    first, second = sharded(tmp_path / "one", FIRST), sharded(tmp_path / "two", SECOND)
    original = contents(first)
    assert netmend("apply", files["patch"], first, "-o", tmp_path / "mended") == 0
    assert contents(tmp_path / "mended") == contents(second) and contents(first) == original
    assert netmend("apply", "--in-place", files["patch"], first / "model.safetensors.index.json") == 0
    assert contents(first) == contents(second)
    # A change that broke off between two shards can be finished in either direction.
    (first / "model-00001-of-00002.safetensors").write_bytes(original["model-00001-of-00002.safetensors"])
    assert netmend("revert", "--in-place", files["patch"], first) == 0
    assert contents(first) == original


def test_an_index_cannot_lead_elsewhere(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sharded(tmp_path / "one", FIRST)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"head.weight": "../m.safetensors"}}))
    assert netmend("apply", files["patch"], folder) == 2
    assert "only .safetensors files beside it" in capsys.readouterr().err
    index.write_text(
        json.dumps(
            {
                "weight_map": {
                    "head.weight": "model-00001-of-00002.safetensors",
                    "x": "model-00002-of-00002.safetensors",
                }
            }
        )
    )
    assert netmend("apply", files["patch"], folder) == 2
    assert "disagree about" in capsys.readouterr().err


@pytest.mark.parametrize("inside", [False, True])
def test_state_dicts_of_pytorch(files: dict[str, Path], tmp_path: Path, inside: bool) -> None:
    state = {name: torch.from_numpy(array.copy()) for name, array in FIRST.items()}
    state["tied.weight"] = state["head.weight"]  # one memory under two names, as in language models
    saved = {"epoch": 3, "loss": torch.tensor(0.5), "model": state} if inside else state
    path = tmp_path / "m.pt"
    torch.save(saved, path)
    assert netmend("apply", files["patch"], path) == 0
    found = torch.load(tmp_path / "m-mended.pt", weights_only=True)
    held = found["model"] if inside else found
    assert all(np.array_equal(held[name].numpy(), SECOND[name]) for name in SECOND)
    assert torch.equal(held["tied.weight"], held["head.weight"]) and (not inside or found["epoch"] == 3)
    shutil.copy(tmp_path / "m-mended.pt", path)
    assert netmend("revert", "--in-place", files["patch"], path) == 0
    back = torch.load(path, weights_only=True)
    assert all(torch.equal(one, state[name]) for name, one in (back["model"] if inside else back).items())


def test_models_in_memory() -> None:
    from netmend.mend.patch import State, patch_between
    from netmend.mend.torch.state_file import TensorWeights, change_module, weights_of

    model = torch.nn.Linear(3, 2).to(torch.bfloat16)
    model.weight.data = model.weight.data.t().contiguous().t()  # not side by side in memory
    original = {name: one.clone() for name, one in model.state_dict().items()}
    with torch.no_grad():
        model.weight[1, 2] = float("inf")
        model.bias[0] += 1
    patch = patch_between(weights_of(model), TensorWeights(original))
    assert change_module(model, patch, State.IN) is State.OUT
    assert all(torch.equal(one, original[name]) for name, one in model.state_dict().items())
    assert change_module(model, patch, State.OUT) is State.IN
    assert torch.isinf(model.weight[1, 2]) and model.weight.requires_grad
