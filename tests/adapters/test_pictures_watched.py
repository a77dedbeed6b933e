"""What the recorder sees of pictures that are read, converted and given another size; and that reading stays what it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites
from netmend.vocabulary import PreparationFact

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def preparation() -> Iterator[Preparation]:
    watched = Preparation(Sites())
    watched.install()
    yield watched
    watched.remove()


def only(preparation: Preparation, call: str) -> PreparationFact:
    return next(fact for fact in preparation.facts.values() if fact.call.endswith(call))


def depths(folder: Path) -> Path:
    values = (np.arange(32 * 32).reshape(32, 32) % 300 + 500).astype(np.uint16)
    Image.fromarray(values).save(folder / "depth.png")
    return folder / "depth.png"


def palette(folder: Path, name: str, *colours: int) -> Path:
    picture = Image.fromarray((np.arange(64).reshape(8, 8) % (len(colours) // 3)).astype(np.uint8), mode="P")
    picture.putpalette(list(colours))
    picture.save(folder / name)
    return folder / name


def test_depths_cut_off_by_a_conversion(preparation: Preparation, tmp_path: Path) -> None:
    grey = Image.open(depths(tmp_path)).convert("L")
    seen = only(preparation, "convert").seen
    assert grey.getextrema() == (255, 255)
    assert (seen["highest"], seen["values"], seen["values_left"], seen["flattened"]) == (
        799,
        300,
        1,
        ["depth.png"],
    )


def test_a_picture_is_opened_as_late_as_without_us(preparation: Preparation, tmp_path: Path) -> None:
    picture = Image.open(depths(tmp_path))
    assert only(preparation, "open").seen["modes"] == ["I;16"]
    assert picture.fp is not None, "nothing was read"


def test_numbers_of_palettes(preparation: Preparation, tmp_path: Path) -> None:
    colours = [10, 20, 30, 200, 100, 50, 7, 8, 9]
    for name, order in (("a.png", colours), ("b.png", colours[::-1])):
        numbers = np.array(Image.open(palette(tmp_path, name, *order)))
        assert numbers.max() == 2
    seen = next(fact.seen for fact in preparation.facts.values() if "palettes" in fact.seen)
    assert len(seen["palettes"]) == 2 and seen["modes"] == ["P"]


def test_a_palette_of_greys_is_a_grey_picture(preparation: Preparation, tmp_path: Path) -> None:
    np.array(
        Image.open(palette(tmp_path, "grey.png", *(value for grey in range(256) for value in (grey,) * 3)))
    )
    assert not any("palettes" in fact.seen for fact in preparation.facts.values())


def test_a_mask_of_class_numbers_that_is_averaged(preparation: Preparation) -> None:
    mask = Image.fromarray(np.repeat(np.array([[0, 4]], dtype=np.uint8), 16).reshape(2, 16).repeat(8, 0))
    mask.resize((5, 5), Image.Resampling.BILINEAR)
    seen = only(preparation, "resize").seen
    assert seen["few_values"] == [0, 4] and seen["new_values"] and seen["mixed"] > 0


def test_a_drawing_in_the_alpha_channel(preparation: Preparation, tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    picture = np.zeros((8, 8, 4), np.uint8)
    picture[2:5, 2:5, 3] = 255
    cv2.imwrite(str(tmp_path / "icon.png"), picture)
    read = cv2.imread(str(tmp_path / "icon.png"), cv2.IMREAD_GRAYSCALE)
    assert read.shape == (8, 8) and only(preparation, "imread").seen["blank"] == ["icon.png"]


def test_a_file_that_cannot_be_read_gives_what_it_gave(preparation: Preparation, tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    assert cv2.imread(str(tmp_path / "broken.png")) is None
    with pytest.raises(OSError, match="cannot identify"):
        Image.open(tmp_path / "broken.png")
