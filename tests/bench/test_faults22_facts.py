"""The facts of the 22 faults, read into data."""

from __future__ import annotations

import pytest

from bench.faults22.configuration import parse, standard_deviation
from bench.faults22.facts import Atom, atom, codes, fault, faults
from netmend.errors import UsageError

LAYERED = {"ACH", "RAW", "WCI", "LRM", "LAD", "LCN", "LCF", "BCI"}
TRUE_DATA = {"D1", "D3", "D4", "D6", "D7", "D8", "D9", "M1", "M2", "M3"}


def test_there_are_9_real_and_13_artificial_faults() -> None:
    kinds = [one.kind for one in faults()]
    assert (len(kinds), kinds.count("real"), kinds.count("artificial")) == (22, 9, 13)
    assert len({one.id for one in faults()}) == 22


def test_every_code_is_known_and_every_layer_exists() -> None:
    for one in faults():
        last = len(one.buggy.layers) - 1
        said = [*one.truth, *(item for some in one.alternatives for item in some)]
        assert one.truth
        for item in said:
            assert item.code in codes(), (one.id, item)
            assert bool(item.layers) == (item.code in LAYERED), (one.id, item)
            assert all(0 <= layer <= last for layer in item.layers), (one.id, item)


def test_layers_are_numbered_by_position() -> None:
    for one in faults():
        for side in (one.buggy, one.fixed):
            assert [layer.index for layer in side.layers] == list(range(len(side.layers)))


def test_only_true_data_has_no_stand_in() -> None:
    assert {one.id for one in faults() if not one.stand_in} == TRUE_DATA


def test_published_answers_are_read_with_their_scores() -> None:
    first = fault("D1").published
    assert set(first) == {"DFD", "DD", "NL", "UM", "GPT4"}
    assert first["DFD"].output == (Atom("ACH"),)
    assert first["DD"].after == (0.5, 1.0, 0.53)
    assert first["UM"].output == ()
    assert first["GPT4"].output is None and first["GPT4"].applicable
    assert fault("D7").published["NL"].output is None and not fault("D7").published["NL"].applicable


def test_the_corrected_layers_are_kept() -> None:
    assert Atom("ACH", (1, 2)) in fault("D3").truth
    assert (Atom("HLR"),) in fault("D6").alternatives
    assert fault("R1").alternatives == ()


def test_atoms_are_read_and_written_alike() -> None:
    assert atom("ACH(0,2)") == Atom("ACH", (0, 2))
    assert str(atom("ACH(0,2)")) == "ACH(0,2)" and str(atom("HLR")) == "HLR"
    with pytest.raises(UsageError, match="XYZ"):
        atom("XYZ(1)")


def test_an_unknown_fault_is_told_with_a_guess() -> None:
    assert fault("m2").id == "M2"
    with pytest.raises(UsageError, match="did you mean"):
        fault("R77")
    with pytest.raises(UsageError, match="known are D1"):
        fault("nothing")


def test_keras_names_of_initialisers_mean_their_standard_deviation() -> None:
    assert standard_deviation("random_normal") == 0.05
    assert standard_deviation("random_normal(std=1)") == 1.0
    assert standard_deviation("glorot_uniform") is None


def test_a_regulariser_is_read_as_its_factor() -> None:
    layer = {"index": 0, "type": "dense", "units": 3, "kernel_regularizer": "l1(0.01)"}
    told = {
        "input_shape": [4],
        "layers": [layer],
        "loss": "mean_squared_error",
        "optimizer": {"name": "sgd", "lr": 0.01, "lr_is_framework_default": True},
        "batch_size": 8,
        "epochs": 2,
        "metric": "mean_absolute_error (of something)",
        "preprocessing": "",
    }
    made = parse(told)
    assert made.layers[0].l1 == 0.01 and made.metric == "mean_absolute_error"
