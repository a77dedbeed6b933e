"""Interfaces that are used wrongly or were removed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from netmend.diagnose.detectors.processes import Crashed
from netmend.diagnose.examples.curves import crashed
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, Accusation, accuses
from netmend.localise.causes.graphs import _twice
from netmend.localise.effects import stopped
from netmend.localise.lines.blocks import retains_graph
from netmend.localise.lines.values import changing_in_place
from netmend.vocabulary import Symptom

# What the message says, why it is wrong, what to do.
_MISUSES = (
    (
        r"leaf Variable that requires grad is being used in an in-place",
        "A parameter is changed in place while autograd is recording.",
        "Change parameters inside `with torch.no_grad():`.",
    ),
    (
        r"before Module\.__init__\(\) call",
        "A module is used before its base class is initialised.",
        "Call `super().__init__()` first in `__init__`.",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        "A numpy array cannot hold a tensor that is part of a graph.",
        "Use `.detach().numpy()` for values that you only inspect.",
    ),
    (
        r"Boolean value of Tensor with more than one value",
        "A tensor with many values was used as a condition.",
        "Reduce it with `.any()` or `.all()`, or compare numbers.",
    ),
    (
        r"elements? tensors? can be converted to (?:Python )?scalars?|a Tensor with \d+ elements cannot be converted",
        "A tensor with many values was used as a number.",
        "Reduce it first, for example with `.mean()`.",
    ),
    (
        r"(?:forward|_call_impl)\(\) (?:missing|takes|got)",
        "The model is called with arguments that `forward` does not take.",
        "Make the call match the arguments of `forward`.",
    ),
    (
        r"_forward_unimplemented|missing the required \"forward\" function",
        "The module has no `forward`.",
        "Define `forward` in the class, spelled exactly like this.",
    ),
)


_DEVICES = re.compile(r"to be on the same device|cuda\.\w*Tensor\) (?:and|should)|should be the same.*cuda")


@accuses(
    "API-USAGE",
    Crashed,
    faulty={
        "numpy": lambda: crashed("RuntimeError: Can't call numpy() on Tensor that requires grad."),
        "two devices": (
            "GPU-XFER-MISSING",
            lambda: crashed("RuntimeError: Expected all tensors to be on the same device, but …"),
        ),
        "too big": (
            "TRN-MODEL-BIG",
            lambda: crashed("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …"),
        ),
    },
)
def interface_misused(case: Case, symptom: Symptom) -> Accusation | None:
    """PyTorch is used in a way that it refuses: in-place changes, a second backward, tensors on different devices.

    The message names the rule that was broken; the line that broke it may be an earlier one.
    Follow the remedy for the rule in question.
    """
    text = str(symptom.detail["exception"])
    says = partial(stopped, symptom, component="program")
    if _DEVICES.search(text):
        why = "Data and model are on different devices."
        remedy = "Move both with `.to(device)`; for tensors, assign the result."
        return says(why, remedy, code="GPU-XFER-MISSING")
    if re.search(r"out of memory|can't allocate memory", text):
        why = "The model and its batch do not fit into memory."
        remedy = "Use a smaller batch, a smaller model or mixed precision."
        doubt = "Another program or an earlier step has used up the memory."
        return says(why, remedy, STRONG, code="TRN-MODEL-BIG", refutation=doubt)
    if "No inf checks were recorded" in text:
        why = "`scaler.update()` was called without a `scaler.step()`."
        return says(why, "Call `scaler.step(optimizer)` before `scaler.update()`.", code="LOOP-AMP")
    if "modified by an inplace operation" in text and not retains_graph(case.sources, symptom.site):
        why = "A value that the backward pass needs was overwritten after it was used."
        remedy = "Write `x = x + …` instead of `x += …`, and remove `inplace=True` there."
        files = [m.created for m in case.trace.models] + [m.called for m in case.trace.models]
        place = next((p for site in files if (p := changing_in_place(case.sources, site))), None)
        return says(why, remedy, site=place)
    if "backward through the graph a second time" in text and _twice(case, symptom.site):
        why = "`backward()` is called twice for one loss; the first call already freed the graph."
        return says(why, "Call `backward()` once per step, on the sum of all losses.")
    return next((says(why, remedy) for raised, why, remedy in _MISUSES if re.search(raised, text)), None)


_NUMPY = r"module 'numpy' has no attribute '(int|float|bool|object|str|complex|long|unicode)'"


@dataclass(frozen=True)
class _Removed:
    """What the exception says, what stands in the line and what belongs there (as `re.sub` takes them), and the story."""

    raised: str
    old: str
    new: str
    why: str
    advice: str  # where the line cannot be read


_REMOVALS = (
    _Removed(
        r"invalid index of a 0-dim tensor",
        r"([\w.\]\[]+?)(?:\.data)?\[0\]",
        r"\1.item()",
        "Since PyTorch 0.5 a loss is a zero-dimensional tensor, which cannot be indexed.",
        "Write `loss.item()` instead of `loss.data[0]`.",
    ),
    _Removed(
        r"Weights only load failed|weights_only",
        r"torch\.load\(((?:[^()]|\([^()]*\))*)\)",
        r"torch.load(\1, weights_only=False)",
        "Since PyTorch 2.6, `torch.load` reads only tensors by default, and this file holds other objects.",
        "Pass `weights_only=False` if you trust the file (loading it can run code from it). Better: save only `model.state_dict()`.",
    ),
    _Removed(
        _NUMPY,
        r"\b(?:np|numpy)\.(int|float|bool|object|str|complex)\b",
        r"\1",
        "NumPy 1.24 removed its aliases of Python's built-in types.",
        "Use the built-in type: `int`, `float`, `bool`.",
    ),
    _Removed(
        r"has no attribute 'next'",
        r"([\w.]+(?:\([\w.]*\))?)\.next\(\)",
        r"next(\1)",
        "Iterators have no `next` method in Python 3.",
        "Write `next(iterator)`.",
    ),
    _Removed(
        r"module 'collections' has no attribute '(?:Iterable|Mapping|Sequence|Callable|Sized|MutableMapping)'",
        r"\bcollections\.(Iterable|Mapping|Sequence|Callable|Sized|MutableMapping)\b",
        r"collections.abc.\1",
        "Python 3.10 moved the abstract classes out of `collections`.",
        "Import it from `collections.abc`.",
    ),
    _Removed(
        r"Subtraction, the `-` operator, with (?:a bool|two bool) tensor",
        r"\b1\s*-\s*([\w.]+)",
        r"~\1",
        "Since PyTorch 1.2, comparisons return booleans, which cannot be subtracted.",
        "Write `~mask` instead of `1 - mask`.",
    ),
    _Removed(
        r"[Ll]egacy autograd function",
        r"(?!)",
        "",
        "Since PyTorch 1.5, autograd functions have static methods and are called with `apply`.",
        "Make `forward` and `backward` static methods that take `ctx`, and call `Function.apply(…)`.",
    ),
    _Removed(
        r"unexpected keyword argument 'verbose'",
        r",\s*verbose\s*=\s*[^,)]+",
        "",
        "Schedulers no longer take `verbose`.",
        "Remove `verbose`, and print `scheduler.get_last_lr()` where you need it.",
    ),
    _Removed(
        r"has no attribute 'clip_grad_norm'",
        r"\bclip_grad_norm\(",
        "clip_grad_norm_(",
        "Since PyTorch 0.4 the function's name ends in an underscore.",
        "Write `clip_grad_norm_`.",
    ),
    _Removed(
        r"torchvision.transforms' has no attribute 'Scale'",
        r"\btransforms\.Scale\(",
        "transforms.Resize(",
        "`Scale` was renamed.",
        "Write `transforms.Resize`.",
    ),
    _Removed(
        r"torchvision.transforms' has no attribute 'RandomSizedCrop'",
        r"\bRandomSizedCrop\(",
        "RandomResizedCrop(",
        "`RandomSizedCrop` was renamed.",
        "Write `transforms.RandomResizedCrop`.",
    ),
)


@accuses(
    "API-DEPRECATED",
    Crashed,
    faulty={
        "a loss that is indexed": lambda: crashed(
            "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` in Python"
        )
    },
)
def interface_removed(case: Case, symptom: Symptom) -> Accusation | None:
    """The program uses an interface that its library no longer has.

    Code of some years ago stops at such a line, however right it was then. Write what replaced it.
    """
    text = str(symptom.detail["exception"])
    found = next((known for known in _REMOVALS if re.search(known.raised, text)), None)
    if found is None:
        return None
    line = "" if symptom.site is None else case.sources.line(symptom.site)
    changed = re.sub(found.old, found.new, line)
    remedy = found.advice if changed == line else f"Change the line to `{changed}`."
    if changed != line and "trust" in found.advice:
        remedy = f"{remedy} Only do this if you trust the file: loading it can run code from it."
    doubt = "None: the program cannot run like this."
    return stopped(
        symptom, found.why, remedy, PROVEN + 1.0, component="program", refutation=doubt, related=()
    )
