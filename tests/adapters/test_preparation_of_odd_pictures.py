"""Pictures that are easily mishandled: looking at what is done to them fails nowhere, changes nothing and reads no file before the program does."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites

Image = pytest.importorskip("PIL.Image")
np = pytest.importorskip("numpy")


@pytest.fixture
def preparation() -> Iterator[Preparation]:
    watched = Preparation(Sites())
    watched.install()
    yield watched
    watched.remove()


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    draw = np.random.default_rng(0)
    grey = draw.integers(0, 255, (24, 32), np.uint8)
    Image.fromarray(grey).save(folder / "grey.png")
    Image.fromarray(np.dstack([grey] * 3)).save(folder / "colour.jpg")
    Image.fromarray(np.dstack([grey] * 3 + [grey > 100]).astype(np.uint8)).save(folder / "alpha.png")
    Image.fromarray(grey.astype(np.uint16) * 200).save(folder / "deep.png")
    drawn = Image.fromarray(grey % 4).convert("P")
    drawn.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    drawn.save(folder / "palette.png")
    drawn.save(folder / "clear.png", transparency=b"\x00\xff\x80\xff")
    frames = [Image.fromarray(np.dstack([grey // n] * 3)) for n in (1, 2, 3)]
    frames[0].save(folder / "moving.gif", save_all=True, append_images=frames[1:])
    Image.fromarray(grey > 100).save(folder / "bits.png")
    whole = (folder / "colour.jpg").read_bytes()
    (folder / "torn.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "text.png").write_text("not a picture")
    (folder / "empty.jpg").write_bytes(b"")
    return folder


def through_pillow(path: Path) -> list[Any]:
    with Image.open(path) as picture:
        steps = [picture.mode, picture.size, picture.format]
        for mode in ("RGB", "L", "RGBA", "I", "F"):
            steps.append(picture.convert(mode).tobytes())
        small = picture.resize((16, 12))
        steps += [small.tobytes(), small.rotate(90, expand=True).size, small.mode]
        steps += [
            np.array(picture).tobytes(),
            np.asarray(small).shape,
            picture.crop((1, 1, 9, 9)).getextrema(),
        ]
        steps.append(picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT).tobytes())
        steps.append(picture.tell())
    return steps


def outcome(work: Callable[[Path], list[Any]], path: Path) -> tuple[Any, list[tuple[str, str]]]:
    """What comes of it, or how it fails; and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: Any = work(path)
        except Exception as problem:  # noqa: BLE001 - it has to fail with the same words
            result = f"{type(problem).__name__} {problem}"
    return result, [(str(warning.message), warning.filename) for warning in caught]


NAMES = (
    "grey.png", "colour.jpg", "alpha.png", "deep.png", "palette.png", "clear.png", "moving.gif",
    "bits.png", "torn.jpg", "text.png", "empty.jpg", "absent.jpg",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_pillow_does_with_odd_files_what_it_does(name: str, pictures: Path) -> None:
    bare = outcome(through_pillow, pictures / name)
    preparation = Preparation(Sites())
    preparation.install()
    try:
        watched = outcome(through_pillow, pictures / name)
        preparation.finish()
    finally:
        preparation.remove()
    assert watched == bare
    assert not preparation.off, f"looking failed: {dict(preparation.off)}"


def test_a_picture_is_read_when_the_program_reads_it(preparation: Preparation, pictures: Path) -> None:
    class Counted(io.BytesIO):
        reads = 0

        def read(self, *size: int) -> bytes:
            Counted.reads += 1
            return super().read(*size)

    data = (pictures / "colour.jpg").read_bytes()
    picture = Image.open(Counted(data))
    after_opening = Counted.reads
    preparation.remove()
    Counted.reads = 0
    Image.open(Counted(data))
    assert Counted.reads == after_opening
    assert picture.getpixel((0, 0)) is not None


def test_a_moving_picture_stays_at_its_frame(preparation: Preparation, pictures: Path) -> None:
    with Image.open(pictures / "moving.gif") as picture:
        picture.seek(1)
        picture.convert("RGB")
        np.asarray(picture)
        assert picture.tell() == 1


def test_opencv_does_with_odd_files_what_it_does(pictures: Path) -> None:
    cv2 = pytest.importorskip("cv2")

    def through_opencv(path: Path) -> list[Any]:
        steps: list[Any] = []
        for flag in (cv2.IMREAD_COLOR, cv2.IMREAD_GRAYSCALE, cv2.IMREAD_UNCHANGED):
            picture = cv2.imread(str(path), flag)
            if picture is None:
                steps.append(None)
                continue
            steps += [
                picture.tobytes(),
                cv2.resize(picture, (9, 7)).tobytes(),
                cv2.flip(picture, 1).tobytes(),
            ]
        return steps

    for name in NAMES:
        bare = outcome(through_opencv, pictures / name)
        preparation = Preparation(Sites())
        preparation.install()
        try:
            assert outcome(through_opencv, pictures / name) == bare, name
        finally:
            preparation.remove()
        assert not preparation.off, f"looking failed: {dict(preparation.off)}"
