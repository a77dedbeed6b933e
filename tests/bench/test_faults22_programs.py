"""The programs of the 22 faults: they compile, they differ where their configurations differ, they train."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.faults22.facts import fault, faults
from bench.faults22.programs import SIDES, configuration_of, source, write
from netmend.errors import UsageError

ALL = [(one.id, side) for one in faults() for side in SIDES]


def _line(text: str, piece: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if piece in line)


def _changed(id: str) -> tuple[list[str], list[str]]:
    buggy, fixed = (source(fault(id), side).text.splitlines() for side in SIDES)
    return [item for item in buggy if item not in fixed], [item for item in fixed if item not in buggy]


@pytest.mark.parametrize(("id", "side"), ALL)
def test_every_program_compiles_and_its_layers_stand_where_the_map_says(id: str, side: str) -> None:
    one = fault(id)
    made = source(one, side)
    compile(made.text, "train.py", "exec")
    lines = made.text.splitlines()
    assert set(made.layers) == {layer.index for layer in one.buggy.layers}
    for layer in configuration_of(one, side).layers:
        place = made.layers[layer.index]
        assert place.lines and place.lines[-1] <= len(lines)
        words = " ".join(lines[number - 1] for number in place.lines)
        expected = {
            "dense": "nn.Linear",
            "conv2d": "nn.Conv2d",
            "maxpool2d": "ax_?[pP]ool2d",
            "dropout": "nn.Dropout",
        }
        if layer.kind in expected:
            assert re.search(expected[layer.kind], words), (layer, words)
        if layer.activation == "relu":
            assert "relu" in words.lower(), (layer, words)
        for name in place.modules:
            assert name.isdigit() or f"self.{name} = " in words


@pytest.mark.parametrize(("id", "side"), ALL)
def test_names_that_are_used_are_imported_and_no_others(id: str, side: str) -> None:
    tree = ast.parse(source(fault(id), side).text)
    bound = {
        (item.asname or item.name).split(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for item in node.names
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert bound <= used
    assert {"np", "nn", "F", "os", "Path", "DataLoader", "torch"} & used <= bound


@pytest.mark.parametrize("side", SIDES)
def test_no_program_hints_at_its_fault(side: str) -> None:
    for one in faults():
        text = source(one, side).text.lower()
        assert "#" not in text
        for word in ("bug", "fault", "fix", "wrong", one.id.lower() + "_"):
            assert word not in text, (one.id, word)


def test_both_sides_differ_only_where_their_configurations_do() -> None:
    assert _changed("M1") == (
        ["nn.init.zeros_(model[0].weight)"],
        ["nn.init.xavier_uniform_(model[0].weight)"],
    )
    assert _changed("M2") == ([], ["    nn.LogSoftmax(dim=1),"])
    assert _changed("M3") == (["LEARNING_RATE = 0.001"], ["LEARNING_RATE = 1.0"])
    assert _changed("C2") == (["EPOCHS = 1"], ["EPOCHS = 50"])
    assert _changed("C3") == (["nn.init.ones_(model.conv2.weight)"], [])
    assert _changed("R1")[0] == ["        loss = loss + 0.01 * model[0].weight.abs().sum()"]
    assert _changed("R2") == (["    nn.Softsign(),"], ["    nn.Softmax(dim=1),"])
    assert _changed("R7") == ([], ["    nn.LogSoftmax(dim=1),"])


def test_lines_of_a_fault_belong_to_its_layer() -> None:
    made = source(fault("C1"), "buggy")
    assert _line(made.text, "x = hard_sigmoid(self.conv2(x))") in made.layers[2].lines
    made = source(fault("R6"), "buggy")
    assert _line(made.text, "nn.init.ones_(model[0].weight)") in made.layers[0].lines
    made = source(fault("R1"), "buggy")
    assert _line(made.text, "weight.abs().sum()") in made.layers[0].lines
    made = source(fault("D1"), "buggy")
    assert made.layers[7].lines == (_line(made.text, "nn.Softmax"),) and made.layers[7].modules == ("7",)


def test_constants_of_keras_are_carried_over() -> None:
    assert "RMSprop(model.parameters(), lr=0.001, alpha=0.9, eps=1e-7)" in source(fault("D1"), "buggy").text
    assert (
        "Adadelta(model.parameters(), lr=LEARNING_RATE, rho=0.95, eps=1e-7)"
        in source(fault("M3"), "buggy").text
    )
    assert "nn.init.normal_(model[2].weight, std=0.05)" in source(fault("D3"), "buggy").text
    assert "torch.clamp(0.2 * x + 0.5, 0.0, 1.0)" in source(fault("C1"), "buggy").text


def test_epochs_batches_and_rates_are_the_published_ones() -> None:
    for one in faults():
        for side, told in zip(SIDES, (one.buggy, one.fixed), strict=True):
            made = configuration_of(one, side)
            assert (made.epochs, made.batch_size, made.optimiser) == (
                told.epochs,
                told.batch_size,
                told.optimiser,
            )
            assert [layer.kind for layer in made.layers] == [layer.kind for layer in told.layers]
            if made != told:
                assert one.reductions, f"{one.id} is smaller than published and does not say so"


def test_an_unknown_side_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="broken"):
        write(fault("D7"), "broken", tmp_path)


def test_missing_data_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="netmend bench setup"):
        write(fault("M1"), "buggy", tmp_path / "program", data=tmp_path / "empty")


def test_programs_train_and_print_their_metrics(tmp_path: Path) -> None:
    written = {
        (id, side): write(fault(id), side, tmp_path / id / side) for id in ("D6", "D7") for side in SIDES
    }
    several = "import runpy, sys\nfor path in sys.argv[1:]:\n    print(path)\n    runpy.run_path(path)"
    done = subprocess.run(
        [sys.executable, "-c", several, *(str(one.entry) for one in written.values())],
        env={**os.environ, "SEED": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    printed = re.split(re.escape(str(tmp_path)) + ".*\n", done.stdout)[1:]
    told = {
        which: float(re.findall(one.pattern, text)[-1])
        for (which, one), text in zip(written.items(), printed, strict=True)
    }
    assert written["D6", "fixed"].higher_is_better and told["D6", "buggy"] < 0.9 < told["D6", "fixed"]
    assert not written["D7", "fixed"].higher_is_better and told["D7", "buggy"] > 1 > told["D7", "fixed"]
