"""Pictures made smaller or larger: which calls do it, and whether they mix the values of neighbouring pixels."""

from __future__ import annotations

from netmend.program.engine.values import Attribute, Call, Const, Name, Operation, Value, constant, resolved
from netmend.program.meaning.operations import operation

# The name and place of the argument that says how, and what holds without it.
_CALLS: dict[str, tuple[str, int | None, str]] = {
    "cv2.resize": ("interpolation", 5, "INTER_LINEAR"),
    "cv2.warpAffine": ("flags", 4, "INTER_LINEAR"),
    "cv2.warpPerspective": ("flags", 4, "INTER_LINEAR"),
    "cv2.remap": ("interpolation", 3, "INTER_LINEAR"),
    "skimage.transform.resize": ("order", 2, "1"),
    "skimage.transform.rescale": ("order", 2, "1"),
    "skimage.transform.rotate": ("order", 4, "1"),
    "skimage.transform.warp": ("order", 4, "1"),
    "scipy.ndimage.zoom": ("order", 3, "3"),
    "scipy.ndimage.rotate": ("order", 5, "3"),
    "scipy.ndimage.affine_transform": ("order", 5, "3"),
    "scipy.ndimage.shift": ("order", 3, "3"),
    "torchvision.transforms.functional.resize": ("interpolation", 2, "BILINEAR"),
    "torchvision.transforms.functional.resized_crop": ("interpolation", 6, "BILINEAR"),
    "torchvision.transforms.v2.functional.resize": ("interpolation", 2, "BILINEAR"),
    "skimage.transform.downscale_local_mean": ("", None, "MEAN"),
    "skimage.transform.pyramid_reduce": ("", None, "MEAN"),
}
_MADE: dict[str, tuple[str, int | None, str]] = {
    "torchvision.transforms.Resize": ("interpolation", 1, "BILINEAR"),
    "torchvision.transforms.v2.Resize": ("interpolation", 1, "BILINEAR"),
    "torchvision.transforms.RandomResizedCrop": ("interpolation", 3, "BILINEAR"),
}
_PLAIN = ("NEAREST", "INTER_NEAREST", "INTER_NEAREST_EXACT", "NEAREST_EXACT", "nearest", "nearest-exact", "0")
_MIXING = (
    "LINEAR",
    "BILINEAR",
    "BICUBIC",
    "CUBIC",
    "AREA",
    "LANCZOS",
    "LANCZOS4",
    "BOX",
    "HAMMING",
    "ANTIALIAS",
    "MEAN",
    "1",
    "2",
    "3",
    "4",
    "5",
)
_POOLS = ("avg_pool2d", "adaptive_avg_pool2d", "avgpool2d", "adaptiveavgpool2d")


def mixing(call: Call) -> str:
    """How a call that gives a picture another size mixes neighbouring pixels: "INTER_AREA"; "" where it does not, or cannot be told."""
    if call.open:
        return ""
    rule = _CALLS.get(call.qualified)
    if rule is not None:
        return _how(call, *rule)
    made = resolved(call.function)
    if isinstance(made, Call) and made.qualified in _MADE and not made.open:
        return _how(made, *_MADE[made.qualified])
    if call.method == "resize" and call.args and _takes_filter(call):
        return _how(call, "resample", 1, "")  # of a palette image nothing is mixed without it
    op = operation(call)
    if op is not None and op.name in ("interpolate", "upsample"):
        return _how(call, "mode", 3, "")
    return "mean" if op is not None and op.name in _POOLS else ""


def _takes_filter(call: Call) -> bool:
    """`image.resize(size, Image.BILINEAR)`, not the method of an array."""
    given = call.argument("resample", 1)
    return given is not None and bool(_word(given))


def _how(call: Call, name: str, place: int | None, default: str) -> str:
    given = call.argument(name, place) if name else None
    if given is None:
        return default if default.rpartition("_")[2] in _MIXING else ""
    word = _word(given)
    short = word.rpartition("_")[2].upper()
    if not word or word in _PLAIN or short in ("NEAREST", "EXACT", "0"):
        return ""
    return word if short in _MIXING or word in ("bilinear", "bicubic", "area", "trilinear", "linear") else ""


def _word(value: Value) -> str:
    """`INTER_AREA` for `cv2.INTER_AREA`, `BILINEAR` for `Image.Resampling.BILINEAR`, `3` for 3."""
    value = resolved(value)
    if isinstance(value, Name):
        return value.qualified.rpartition(".")[2]
    if isinstance(value, Attribute):
        return value.name
    if isinstance(value, Operation) and value.operator in ("+", "|"):
        words = [_word(part) for part in value.operands]
        return next((word for word in words if "NEAREST" in word), words[0])
    kept = constant(value)
    return (
        str(kept)
        if isinstance(value, Const) and isinstance(kept, str | int) and not isinstance(kept, bool)
        else ""
    )
