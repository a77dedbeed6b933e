"""What of a picture is lost before a network sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import LOSS, SITE, trace_of
from netmend.diagnose.measures.preparation import prepared
from netmend.unit import convention, exact
from netmend.vocabulary import LossFact, OperandFact, PreparationFact, Symptom, Trace


def _read(call: str = "cv2.imread", **seen: Any) -> Trace:
    """Four pictures were looked at where they were read."""
    usual = {"pictures": ["a.png", "b.png", "c.png", "d.png"], "mode": "uint16"}
    return trace_of(PreparationFact("imread@train.py:20", call, "image", SITE, calls=4, seen=usual | seen))


_DEEP: dict[str, Any] = {"values": 340, "values_left": 3, "highest": 905, "cut_off": 0.98}
_ALL = ["a.png", "b.png", "c.png", "d.png"]


class PictureLostOnReading(Detector, code="D860"):
    """Of pictures in files nearly nothing is left in what the program made of them.

    The first files of a line that reads or converts are compared with what came out: 16-bit depths that became two or three grey values or were cut off at
    255, drawings that stood in the alpha channel, numbers of palettes that differ from file to file.
    """

    share = convention(0.5, "of the pictures that were looked at have lost their values")
    drawings = convention(0.2, "of the pictures that were looked at are blank without their alpha channel")
    fewest = convention(2, "such pictures")
    palettes = exact(2, "different palettes: one number is two colours")

    HEALTHY = {
        "a wide range keeps its grey values": lambda: _read(values=30000, values_left=240, highest=65535, cut_off=0.9),
        "8 bit": lambda: _read(mode="uint8"),
        "an alpha channel that hides nothing": lambda: _read(mode="uint8", transparent=_ALL),
        "masks with one palette": lambda: _read("PIL.Image as numbers", modes=["P"], palettes=[17], numbers=20),
        "masks beside photographs that one function opens": lambda: _read("PIL.Image as numbers", modes=["RGB", "P"], palettes=[17], numbers=1),
        "class numbers with a palette each": lambda: _read("PIL.Image as numbers", modes=["P"], palettes=[17, 18], numbers=5),
    }  # fmt: skip
    FAULTY = {
        "depths": lambda: _read(flattened=_ALL, **_DEEP),
        "cut off": lambda: _read("PIL.Image.convert", clipped=_ALL[:3], **_DEEP),
        "drawings": lambda: _read(mode="uint8", transparent=_ALL[:3], blank=_ALL[:3]),
        "palettes": lambda: _read(
            "PIL.Image as numbers", modes=["RGB", "P"], palettes=[17, 18, 19], numbers=90
        ),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        told: set[object] = set()
        for fact in prepared(trace, "image"):
            found = self._depth(fact) or self._drawings(fact) or self._palettes(fact)
            place = (fact.site.file, fact.site.line) if fact.site is not None else fact.name
            if found is not None and place not in told:
                told.add(place)
                what, message = found
                yield self.symptom(
                    message,
                    fact.name,
                    1.0,
                    None,
                    {"what": what, "call": fact.call} | dict(fact.seen),
                    site=fact.site,
                )

    def _depth(self, fact: PreparationFact) -> tuple[str, str] | None:
        seen, looked = fact.seen, len(fact.seen.get("pictures", ()))
        flattened, clipped = (len(seen.get(name, ())) for name in ("flattened", "clipped"))
        if flattened + clipped < max(self.fewest, self.share * looked):
            return None
        message = (
            f"{flattened + clipped} of {looked} pictures that were looked at hold more than 8 bit (up to {seen['highest']}, {seen['values']} different values); "
            f"`{fact.call.rpartition('.')[2]}` leaves {seen['values_left']} of them"
        )
        if "convert" in fact.call:
            message += f": {seen['cut_off']:.0%} of the pixels of one are beyond 255 and are cut off there"
        return "depth", f"{message}."

    def _drawings(self, fact: PreparationFact) -> tuple[str, str] | None:
        looked, blank = len(fact.seen.get("pictures", ())), len(fact.seen.get("blank", ()))
        if blank < max(self.fewest, self.drawings * looked):
            return None
        message = f"Of {looked} pictures that were looked at {blank} are drawn in their alpha channel alone: without it every pixel of them has one and the same value."
        return "alpha", message

    def _palettes(self, fact: PreparationFact) -> tuple[str, str] | None:
        seen = fact.seen
        palettes, modes = len(seen.get("palettes", ())), list(seen.get("modes", ()))
        if "P" not in modes:
            return None
        others = [mode for mode in modes if mode in ("RGB", "RGBA", "L")]
        if not palettes or seen["numbers"] <= _CLASS_NUMBERS or not (palettes >= self.palettes or others):
            return None  # masks beside the photographs that the same line opens, for example
        message = f"Pictures with a palette are handed over as the numbers of their colours: {palettes} different palettes were seen, in each of which a number is another colour"
        return (
            "palette",
            f"{message}{f'; other pictures of this line hold colours ({others[0]})' if others else ''}.",
        )


_CLASS_NUMBERS = 40  # masks of classes have smaller ones


def _mask(
    few: list[int],
    new: list[float],
    dtype: str = "int64",
    classes: int = 5,
    shape: tuple[int, ...] = (8, 32, 32),
    share: float = 0.04,
) -> Trace:
    """A mask with these values got another size; the loss's targets are of this kind."""
    fact = PreparationFact("resize@train.py:20", "cv2.resize", "image", SITE, calls=8,
                           seen={"few_values": few, "new_values": new, "mixed": share, "shape": [32, 32]})  # fmt: skip
    operands = (
        OperandFact("prediction", (8, classes, 32, 32), "float32"),
        OperandFact("target", shape, dtype),
    )
    return trace_of(fact, LossFact(LOSS, "cross_entropy", operands=operands))


class ClassNumbersMixedByResizing(Detector, code="D861"):
    """A mask of class numbers holds other classes once it has another size.

    Averaging between class 1 and class 4 gives 2 and 3: classes that nobody marked, along every border.
    """

    share = convention(0.002, "of the pixels of a mask")

    HEALTHY = {
        "the nearest pixel": lambda: _mask([0, 1, 4], []),
        "a covered share": lambda: _mask([0, 255], [64.0, 128.0], dtype="float32"),
        "a class each": lambda: _mask([0, 1, 4], [2.0, 3.0], shape=(8,)),
        "a flat picture": lambda: _mask([80, 81, 90], [85.0]),
    }
    FAULTY = {
        "classes between": lambda: _mask([0, 1, 4], [2.0, 3.0]),
        "with a value to ignore": lambda: _mask([0, 1, 255], [64.0, 128.0]),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        classes = _classes_of_places(trace)
        if not classes:
            return
        for fact in prepared(trace, "image"):
            few, new = list(fact.seen.get("few_values", ())), list(fact.seen.get("new_values", ()))
            labels = [value for value in few if value != _IGNORED]
            if not new or fact.seen["mixed"] < self.share or not labels or not 0 < max(labels) < classes:
                continue
            if len(few) < 3:
                continue
            numbers = ", ".join(f"{value:g}" for value in new[:4])
            message = f"A mask with the class numbers {', '.join(map(str, few[:6]))} holds {numbers}{' and others' if len(new) > 4 else ''} behind this line, on up to {fact.seen['mixed']:.1%} of its pixels."
            yield self.symptom(
                message, fact.name, fact.seen["mixed"], self.share, {"call": fact.call}, site=fact.site
            )


_IGNORED = 255


def _classes_of_places(trace: Trace) -> int:
    """How many classes there are for every place of a picture; 0 where targets are something else."""
    for loss in trace.losses:
        given, target = loss.prediction, loss.target
        if (
            given is None
            or target is None
            or len(given.shape) < 4
            or len(target.shape) != len(given.shape) - 1
        ):
            continue
        if target.dtype.startswith(("int", "torch.int", "uint", "long")):
            return int(given.shape[1])
    return 0
