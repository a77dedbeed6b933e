"""Patches in memory: what they hold, what they refuse, and that they come out as they went in."""

from __future__ import annotations

import numpy as np
import pytest

from netmend.errors import UsageError
from netmend.mend.change_model import largest_changes
from netmend.mend.patch import Patch, Piece, State, fit, patch_between, rest_digest
from netmend.mend.weights import Arrays, bits_type, finite, numbers


def piece(indices: list[int], size: int = 4, name: str = "w", dtype: str = "F32") -> Piece:
    values = np.zeros(len(indices), dtype=bits_type(dtype))
    return Piece(name, (size,), dtype, np.array(indices, dtype=np.int64), values, values + 1)


BEFORE = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([1, 2], dtype=np.int64)}
AFTER = {"a": np.array([[0, 1, 2], [3, 7, 5]], dtype=np.float32), "b": BEFORE["b"]}


def test_a_patch_lists_what_changes_and_nothing_else() -> None:
    patch = patch_between(Arrays(BEFORE), Arrays(AFTER), {"method": "by hand"})
    (only,) = patch.pieces
    assert (only.name, only.indices.tolist(), only.dtype) == ("a", [4], "F32")
    assert numbers(only.old, "F32").tolist() == [4.0] and numbers(only.new, "F32").tolist() == [7.0]
    assert (patch.touched, patch.share, patch.norm) == (1, 1 / 8, 3.0)
    assert patch.meta == {"method": "by hand"}


def test_a_mostly_changed_tensor_is_listed_whole_but_counted_as_it_is() -> None:
    before = np.zeros(10, dtype=np.float32)
    after = np.array([0, *range(1, 10)], dtype=np.float32)
    (only,) = patch_between(Arrays({"w": before}), Arrays({"w": after})).pieces
    assert only.indices.tolist() == list(range(10)) and only.touched == 9


def test_minus_zero_is_a_change_and_equal_nans_are_none() -> None:
    before = np.array([0.0, np.nan], dtype=np.float64)
    patch = patch_between(Arrays({"w": before}), Arrays({"w": np.array([-0.0, np.nan])}))
    assert [list(one.indices) for one in patch.pieces] == [[0]]


def test_the_inverse_of_the_inverse_is_the_patch() -> None:
    patch = patch_between(Arrays(BEFORE), Arrays(AFTER))
    once, twice = patch.inverted().pieces[0], patch.inverted().inverted().pieces[0]
    assert once.old.tolist() == patch.pieces[0].new.tolist() != once.new.tolist()
    assert twice.old.tolist() == patch.pieces[0].old.tolist()


def test_where_a_model_stands() -> None:
    two = {**AFTER, "b": np.array([1, 5], dtype=np.int64)}
    patch = patch_between(Arrays(BEFORE), Arrays(two))
    assert fit(patch, Arrays(BEFORE), "m") is State.OUT
    assert fit(patch, Arrays(two), "m") is State.IN
    assert fit(patch, Arrays(AFTER), "m") is State.HALF


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"a": BEFORE["a"]}, r"1 tensors are missing \(b\)"),
        ({**BEFORE, "c": BEFORE["b"]}, r"1 are unknown to the patch \(c\)"),
        ({**BEFORE, "a": BEFORE["a"].T}, r"a is F32 \[3, 2\] in m and F32 \[2, 3\] in the patch"),
        ({**BEFORE, "a": BEFORE["a"].astype(np.float16)}, "a is F16"),
        (
            {**BEFORE, "b": np.array([1, 3], dtype=np.int64)},
            "1 of 2 tensors of m hold other values, b for one",
        ),
        ({**BEFORE, "a": BEFORE["a"] + np.eye(2, 3, dtype=np.float32)}, "hold other values, a for one"),
        (
            {**BEFORE, "a": np.array([[0, 1, 2], [3, 9, 5]], dtype=np.float32)},
            "1 of 1 values of a in m are neither",
        ),
    ],
)
def test_another_model_is_refused_with_what_differs(model: dict[str, np.ndarray], words: str) -> None:
    patch = patch_between(Arrays(BEFORE), Arrays(AFTER))
    with pytest.raises(UsageError, match=words):
        fit(patch, Arrays(model), "m")


@pytest.mark.parametrize(
    "indices",
    [
        [-1, 2],
        [0, 4],
        [1, 1],
        [2, 1],
        [0, 2**63 - 1, -5, 3],  # differences of neighbours would overflow and look like growth
    ],
)
def test_indices_outside_or_out_of_order_are_refused(indices: list[int]) -> None:
    with pytest.raises(UsageError, match="indices must grow, without repetition, from 0 to 3"):
        piece(indices)


def test_types_and_lengths_must_agree() -> None:
    four = np.zeros(1, dtype="<u4")
    with pytest.raises(UsageError, match="bits of F16"):
        Piece("w", (3,), "F16", np.array([0]), four, four)
    with pytest.raises(UsageError, match="as many of each"):
        Piece("w", (3,), "F32", np.array([0, 1]), four, four)
    with pytest.raises(UsageError, match="BOOL cannot be patched"):
        Piece("w", (3,), "BOOL", np.array([0]), four, four)
    with pytest.raises(UsageError, match="unusable name"):
        piece([0], name="w\x1b[31m")


def test_pieces_must_belong_to_the_fingerprint() -> None:
    model = patch_between(Arrays(BEFORE), Arrays(AFTER)).model
    with pytest.raises(UsageError, match="contradicts its own fingerprint"):
        Patch((piece([0], name="a"),), model)
    with pytest.raises(UsageError, match="sorted by name"):
        Patch((piece([0], name="b"), piece([0], name="a")), model)


def test_two_models_of_different_build_have_no_patch() -> None:
    with pytest.raises(UsageError, match=r"b is I64 \[2\] in the first and missing in the second"):
        patch_between(Arrays(BEFORE), Arrays({"a": BEFORE["a"]}))


def test_values_that_become_infinite_are_refused_and_those_that_were_are_not() -> None:
    broken = {"w": np.array([np.inf, 1.0], dtype=np.float16)}
    sound = {"w": np.array([2.0, 1.0], dtype=np.float16)}
    patch_between(Arrays(broken), Arrays(sound)).refuse_non_finite()
    with pytest.raises(UsageError, match="1 of 1 changed values of w infinite or NaN"):
        patch_between(Arrays(sound), Arrays(broken)).refuse_non_finite()


def test_bits_are_read_as_the_numbers_they_stand_for() -> None:
    assert numbers(np.array([0x3FC0, 0xC000], dtype="<u2"), "BF16").tolist() == [1.5, -2.0]
    assert finite(np.array([0x7F80, 0x7F7F, 0x7FC1], dtype="<u2"), "BF16").tolist() == [False, True, False]
    assert numbers(np.array([0xFF], dtype="<u1"), "I8").tolist() == [-1.0]


def test_hashes_do_not_depend_on_how_the_bits_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    bits, touched = np.arange(1, 12, dtype="<u2"), np.array([0, 4, 5, 10])
    whole = rest_digest(bits, touched)
    monkeypatch.setattr("netmend.mend.patch._ELEMENTS_AT_ONCE", 5)
    assert rest_digest(bits, touched) == whole != rest_digest(bits)
    bits[4] = 99
    assert rest_digest(bits, touched) == whole
    bits[3] = 99
    assert rest_digest(bits, touched) != whole


def test_the_largest_changes_come_first_with_their_place() -> None:
    after = {"a": BEFORE["a"] + np.array([[0, 1, 0], [-3, 0, 0]], dtype=np.float32), "b": np.array([1, 4])}
    found = largest_changes(patch_between(Arrays(BEFORE), Arrays(after)), 2)
    assert [(one.name, one.place, one.old, one.new) for one in found] == [
        ("a", (1, 0), 3.0, 0.0),
        ("b", (1,), 2.0, 4.0),
    ]
