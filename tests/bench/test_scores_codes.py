"""From told faults to the study's codes and layers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.codes import CODES, LAYERED, answer_of, code_of
from bench.faults22.facts import Atom, codes
from bench.faults22.programs import LayerPlace, Written
from netmend.vocabulary import LEAVES, Fault, Site

PROGRAM = Written(
    Path("project/train.py"),
    {
        0: LayerPlace((10, 20), ("0", "1")),
        1: LayerPlace((11,), ("2",)),
        2: LayerPlace((12, 20), ("block.0",)),
    },
    "",
    True,
)


def told(cause: str, component: str = "", line: int | None = None, file: str = "copy/train.py") -> Fault:
    site = None if line is None else Site(file, line)
    return Fault(cause, 0.9, component, site, "", "", "", "")


def test_the_codes_are_those_of_the_study() -> None:
    assert dict(codes()) == CODES


def test_every_leaf_has_a_code_or_keeps_its_name() -> None:
    found = {leaf: code_of(leaf) for leaf in LEAVES}
    assert {code for leaf, code in found.items() if code != leaf} == set(CODES)
    for leaf, code in found.items():
        known = [alias for alias in LEAVES[leaf].aliases if alias in CODES]
        assert code in CODES if known else code in (leaf, "LRM", "ACH", "HLR")


@pytest.mark.parametrize(
    ("leaf", "code"),
    [
        ("HYP-LR-HIGH", "HLR"),
        ("HYP-LR-SCHED", "HLR"),
        ("LYR-SOFTMAX-EXTRA", "ACH"),
        ("ARC-STRUCT-SUBOPT", "LCN"),
        ("LYR-NORM-MISSING", "LRM"),
        ("LOS-REG-EXTRA", "RAW"),
        ("LOOP-ZERO-GRAD", "LOOP-ZERO-GRAD"),
        ("NO-SUCH-LEAF", "NO-SUCH-LEAF"),
    ],
)
def test_codes_by_meaning(leaf: str, code: str) -> None:
    assert code_of(leaf) == code


@pytest.mark.parametrize(
    ("fault", "layers"),
    [
        (told("ACT-HID-WRONG", "model.2"), (1,)),
        (told("ACT-HID-WRONG", "net.1", 12), (0,)),  # the component is surer than the line
        (told("ACT-HID-WRONG", "model.block.0"), (2,)),  # not layer 0, whose module is called "0"
        (told("ACT-HID-WRONG", "2"), (1,)),
        (told("ACT-HID-WRONG", "cross_entropy", 11), (1,)),
        (told("ARC-INIT-WEIGHT", "model", 20), (0, 2)),  # a line that initialises several
        (told("ACT-HID-WRONG", "model", 11, "/copy/other.py"), ()),
        (told("ACT-HID-WRONG", "model"), ()),
    ],
)
def test_layers(fault: Fault, layers: tuple[int, ...]) -> None:
    assert answer_of([fault], PROGRAM) == (Atom(code_of(fault.cause), layers),)


def test_codes_about_the_whole_program_name_no_layer() -> None:
    assert "HLR" not in LAYERED
    assert answer_of([told("HYP-LR-HIGH", "model.2", 11)], PROGRAM) == (Atom("HLR"),)


def test_faults_of_one_code_are_one_atom_in_the_order_in_which_they_are_told() -> None:
    faults = [
        told("ACT-OUT-WRONG", "model.2"),
        told("HYP-LR-LOW", "optimizer"),
        told("ACT-HID-WRONG", "model.0"),
    ]
    assert answer_of(faults, PROGRAM) == (Atom("ACH", (0, 1)), Atom("HLR"))
    assert answer_of((), replace(PROGRAM, layers={})) == ()


def test_an_output_activation_told_at_the_loss_is_that_of_the_last_layer() -> None:
    (atom,) = answer_of([told("LYR-SOFTMAX-MISSING", "nll_loss", line=99)], PROGRAM)
    assert atom == Atom("ACH", (2,))
    (hidden,) = answer_of([told("ACT-HID-WRONG", "nll_loss", line=99)], PROGRAM)
    assert hidden == Atom("ACH", ())
