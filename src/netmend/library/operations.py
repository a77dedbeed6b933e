"""Methods and functions of tensors: which keep the numbers, which only move or cast them, which cut the graph."""

from __future__ import annotations

# Where a tensor lies.
MOVES = ("to", "cuda", "cpu")
DEVICES = (*MOVES, "xpu", "mps")
# What its numbers are stored as.
FLOATS = ("float", "double", "half")
INTEGERS = ("long", "int")
CASTS = (*FLOATS, *INTEGERS, "type")
COPIES = ("contiguous", "clone")
# How the numbers are laid out.
RESHAPES = ("view", "reshape", "flatten")
AXES = ("squeeze", "unsqueeze")
TURNS = ("permute", "transpose")
SHAPES = (*RESHAPES, *AXES)
VIEWS = (*SHAPES, *TURNS)
NARROWING = ("squeeze", *RESHAPES, "ravel")
WIDENING = ("unsqueeze", "view", "reshape", "view_as", "reshape_as", "expand_as")
# Calls of a model or a tensor that give back the same object.
SAME_OBJECT = (*MOVES, "train", "eval", *FLOATS, "bfloat16", "requires_grad_")
GIVE_BACK_SELF = frozenset((*SAME_OBJECT, "apply", "share_memory", "xpu"))
# What ends the graph: no gradient comes back through it.
LEAVES_GRAPH = ("detach", "detach_", "item", "numpy", "tolist")
WITHOUT_DERIVATIVE = ("argmax", "argmin", "round", "floor", "sign")
COMPARISONS = ("eq", "ne", "gt", "ge", "lt", "le")
CHECKS = ("isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not")
LIKE = (
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
    "rand_like",
    "randn_like",
)  # take no more than a shape
DRAWS = ("multinomial", "bernoulli", "normal")
COUNTS = ("argsort", "nonzero", "unique", "bincount", "searchsorted", "bucketize", "histc")
ARITHMETIC = ("add", "sub", "mul", "div")
NORM_FUNCTIONS = ("batch_norm", "layer_norm", "instance_norm", "group_norm", "rms_norm", "normalize")
# The views of autograd's own operations, whose names differ from those of methods.
ATEN_VIEWS = ("view", "unsafe_view", "reshape", "reshape_alias")
ATEN_TURNS = ("transpose", "permute", "t")
FROM_ARRAYS = ("as_tensor", "from_numpy", "asarray")
OFF_DEVICE = ("item", "detach", "numpy", "tolist", "cpu")
SUMMARIES = ("mean", "sum")
HINGES = ("clamp", "clamp_min", "relu", "max", "maximum", "clip", "ReLU")  # cut off at one end
