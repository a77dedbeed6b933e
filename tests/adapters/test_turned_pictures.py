"""What is asked of the first batches at the end: do turned pictures look like another class, have paired points changed sides?"""

from __future__ import annotations

import numpy as np
import pytest

from netmend.adapters.preparation.turned import ask
from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites


def arrows(count: int, seed: int, mirrored: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of arrows to the left (0) and to the right (1), and of rings (2)."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, count)
    pictures = random.normal(0, 0.1, (count, 1, 20, 20)).astype(np.float32)
    for picture, label in zip(pictures, labels, strict=True):
        if label == 2:
            picture[0, 4:16, 4:16] += 1
            picture[0, 7:13, 7:13] -= 1
        else:
            picture[0, 9:11, 3:17] += 1
            picture[0, 5:15, 3 : 7 if label == 0 else 0] += 1 if label == 0 else 0
            if label == 1:
                picture[0, 5:15, 13:17] += 1
        if random.random() < mirrored:
            picture[:] = picture[..., ::-1].copy()
    return pictures, labels


def asked(
    training: tuple[np.ndarray, np.ndarray], evaluation: tuple[np.ndarray, np.ndarray]
) -> dict[str, object]:
    preparation = Preparation(Sites())
    preparation.batches.keep("training", 0, *training)
    preparation.batches.keep("evaluation", 0, *evaluation)
    ask(preparation)
    return {name: fact.seen for name, fact in preparation.facts.items()}


def test_half_of_the_arrows_are_mirrored() -> None:
    (seen,) = asked(arrows(200, 0, mirrored=0.5), arrows(150, 1)).values()
    assert (seen["how"], seen["one"], seen["other"]) == ("mirrored", 0, 1)  # type: ignore[index]
    assert 0.3 < seen["in_training"] < 0.7  # type: ignore[index]


def test_arrows_as_they_are() -> None:
    assert asked(arrows(200, 0), arrows(150, 1)) == {}


def test_both_parts_are_mirrored() -> None:
    assert asked(arrows(200, 0, mirrored=0.5), arrows(150, 1, mirrored=0.5)) == {}


def faces(
    count: int, seed: int, mirrored: float = 0.0, exchanged: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Points of faces: left and right eye, left and right corner of the mouth, nose; as shares of the width."""
    random = np.random.default_rng(seed)
    usual = np.array([[0.3, 0.3], [0.7, 0.3], [0.4, 0.8], [0.6, 0.8], [0.5, 0.5]])
    points = usual + random.normal(0, 0.02, (count, 1, 2)) + random.normal(0, 0.01, (count, 5, 2))
    turned = random.random(count) < mirrored
    points[turned, :, 0] = 1 - points[turned, :, 0]
    if exchanged:
        points[turned] = points[turned][:, [1, 0, 3, 2, 4]]
    return random.normal(0, 1, (count, 1, 8, 8)).astype(np.float32), points.reshape(count, -1).astype(
        np.float32
    )


@pytest.mark.parametrize(("exchanged", "told"), [(False, 1), (True, 0)])
def test_points_of_mirrored_faces(exchanged: bool, told: int) -> None:
    assert len(asked(faces(100, 0, 0.5, exchanged), faces(60, 1))) == told


def test_points_without_a_side() -> None:
    """Hub and tip of a needle: any of the two may lie on the left."""
    random = np.random.default_rng(0)
    pictures, points = (
        random.normal(0, 1, (100, 1, 8, 8)).astype(np.float32),
        random.random((100, 4)).astype(np.float32),
    )
    assert asked((pictures, points), (pictures[:60], points[:60])) == {}
