"""What a loss is given, read from its operands: the functions an output went through, and shapes that stretch."""

from __future__ import annotations

import pytest

from netmend.diagnose.examples.losses import call, given, layer, run_of, wanted
from netmend.diagnose.measures.batches import evenness
from netmend.diagnose.measures.heads import broadcast, functions, heads, place_of, same_values, stretched


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("AddmmBackward0",), ("raw",)),
        (("ViewBackward0", "SqueezeBackward1", "SigmoidBackward0", "AddmmBackward0"), ("sigmoid", "raw")),
        (("ClampBackward1", "SigmoidBackward0", "AddmmBackward0"), ("clamp", "sigmoid", "raw")),
        (("MulBackward0", "TanhBackward0"), ("",)),
        (("torch::autograd::AccumulateGrad",), ("",)),
        ((), ()),
    ],
)
def test_functions_of_a_path(path: tuple[str, ...], found: tuple[str, ...]) -> None:
    assert functions(path) == found


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ((8, 1), (8,), (8, 8)),
        ((8,), (8, 1), (8, 8)),
        ((8, 1, 5), (8, 5), (8, 8, 5)),
        ((8, 1), (8, 1), None),
        ((8, 3), (8, 1), None),
        ((1, 1), (1,), None),
        ((8, 1), (7,), None),
        ((8, 2), (3, 2), None),
    ],
)
def test_shapes_that_stretch(
    first: tuple[int, ...], second: tuple[int, ...], together: tuple[int, ...] | None
) -> None:
    assert stretched(first, second) == together


def test_shapes_that_fit() -> None:
    assert broadcast((4, 1, 3), (2, 3)) == (4, 2, 3) and broadcast((4,), (3,)) is None
    assert same_values((4, 1), (1, 4)) and not same_values((4, 2), (2, 4))


def test_only_minimised_losses_have_heads_and_the_order_of_operands_may_be_turned() -> None:
    trace = run_of("mse_loss", given(8, 1), wanted(8, 1, whole=False))
    (head,) = heads(trace)
    assert head.last == "raw" and head.width == 1 and head.rows == 8
    assert not heads(run_of("mse_loss", wanted(8, 1), exception="ValueError: no"))


def test_the_last_function_before_the_loss_is_found_where_it_was_written() -> None:
    softmax = given(8, 4, "Softmax")
    inner = call("softmax", 8, 20)  # attention: of another size
    trace = run_of("cross_entropy", softmax, wanted(8), inner, layer("softmax", 8, 4))
    (head,) = heads(trace)
    place = place_of(trace, head, "softmax")
    assert place is not None and place.module == "model.softmax" and place.site is not None
    after = run_of(
        "cross_entropy", softmax, wanted(8), layer("softmax", 8, 4), call("softmax", 8, 4, kind="loss path")
    )
    place = place_of(after, heads(after)[0], "softmax")
    assert place is not None and not place.module


def test_evenness_needs_numbers_without_gaps_and_enough_of_each() -> None:
    assert evenness({0.0: 20, 1.0: 15, 2.0: 30}, least=10) == 0.5
    assert evenness({0.0: 20, 2.0: 15, 3.0: 30}, least=10) is None
    assert evenness({4.0: 20, 5.0: 15, 6.0: 30}, least=10) is None
    assert evenness({0.0: 2, 1.0: 2, 2.0: 2}, least=10) is None
