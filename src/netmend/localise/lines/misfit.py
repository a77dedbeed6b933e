"""Misfit: which layer's size is wrong when a layer refuses what it is given, told from shapes and settings."""

from __future__ import annotations

import math
import re

from netmend.diagnose.measures.ending import layer_before
from netmend.vocabulary import ModelFact, ModuleFact, Trace

_SIZES = re.compile(
    r"shapes cannot be multiplied|to have \d+ channels, but got|running_mean should contain|"
    r"Given normalized_shape|must be equal to input_size|expecting embedding dimension|"
    r"number of channels in input to be divisible|size mismatch, got"
)
_RANK = re.compile(
    r"Expected (?:2D|3D|4D|\dD \(unbatched\)|input to be|\d+D?)|expected \dD (?:or \dD )?input|hx should|"
    r"Expected \dD"
)
_SMALL = re.compile(
    r"Kernel size can't be greater|Output size is too small|output size:? \(?.*too small", re.I
)
_INDEX = "index out of range in self"


def misfits(text: str) -> bool:
    """Whether a message is about the size or the number of axes of what a layer was given."""
    return bool(_SIZES.search(text) or _RANK.search(text) or _SMALL.search(text) or _INDEX in text)


def judge(trace: Trace, layer: ModuleFact, text: str) -> tuple[str, str, str]:
    """The leaf, why it is that one, and what to change."""
    given = layer.input_shapes[0]
    before = layer_before(trace, layer)
    if _SMALL.search(text):
        why = "The feature map is smaller than the kernel."
        return "LYR-FILTER", why, f"Use a smaller kernel or less pooling before `{layer.name}`."
    if _INDEX in text:
        size = layer.settings.get("num_embeddings")
        why = f"The embedding has {size} entries, but an index beyond them was looked up."
        return (
            "LYR-IN-SHAPE",
            why,
            f"Give `{layer.name}` at least as many entries as the largest index plus one.",
        )
    if _RANK.search(text) and not _SIZES.search(text):
        why = f"The layer got a tensor of shape {given}, which has the wrong number of axes."
        return (
            "INP-LAYER-SHAPE",
            why,
            f"Add or remove an axis before `{layer.name}`, for example with `unsqueeze`.",
        )
    wanted = _wanted(layer)
    width = given[1] if layer.kind.startswith("Conv") and len(given) > 1 else given[-1]
    remedy = f"Make `{layer.name}` take {width} instead of {wanted}, or change what comes before it."
    if layer.kind.startswith("Conv") and before is None:
        if wanted in given[2:]:
            why = f"The data has its channels last: shape {given}, where the layer expects {wanted} on the second axis."
            return "INP-LAYER-SHAPE", why, "Move the channels to the second axis with `permute(0, 3, 1, 2)`."
        return "LYR-IN-SHAPE", f"The data has {width} channels, the layer expects {wanted}.", remedy
    if layer.kind == "Linear" and len(given) > 2 and math.prod(given[1:]) == wanted:
        why = f"The feature map of shape {given} was not flattened: the layer sees only its last axis."
        return (
            "LYR-FLATTEN-MISSING",
            why,
            f"Flatten the feature map before `{layer.name}`, with `nn.Flatten()`.",
        )
    if before is None:
        model = trace.get(ModelFact, layer.model)
        flattened = model is not None and bool(model.input_shapes) and len(model.input_shapes[0]) > 2
        code = "LYR-IN-SAMPLE" if flattened and layer.kind == "Linear" else "LYR-IN-SHAPE"
        return code, f"A sample has {width} values, the layer expects {wanted}.", remedy
    made = before.output_shapes[0]
    if layer.kind == "Linear" and len(made) > 2 and len(given) == 2 and width not in (made[1], made[-1]):
        why = f"The flattened feature map has {width} values, the layer expects {wanted}."
        return "LYR-IN-SAMPLE", why, remedy
    return "LYR-DIM-MISMATCH", f"`{before.name}` gives {width}, `{layer.name}` expects {wanted}.", remedy


def _wanted(layer: ModuleFact) -> int | None:
    for name in ("in_features", "in_channels", "input_size", "num_features", "embed_dim", "num_channels"):
        value = layer.settings.get(name)
        if isinstance(value, int):
            return value
    shape = layer.settings.get("normalized_shape")
    return int(shape[-1]) if isinstance(shape, list | tuple) and shape else None
