"""API-DEPRECATED: crashes of code that was written for older versions of its libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.unit import Run
from netmend.vocabulary import Fault, RunFact, Site, Trace

_NUMPY = r"module 'numpy' has no attribute '(int|float|bool|object|str|complex|long|unicode)'"


@dataclass(frozen=True)
class _Removed:
    """What the exception says, what stands in the line and what belongs there (as `re.sub` takes them), and the story."""

    raised: str
    old: str
    new: str
    why: str
    advice: str  # where the line cannot be read


_KNOWN = (
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


@register
@dataclass(frozen=True)
class InterfaceRemoved:
    """The program uses an interface that its library no longer has.

    Code of some years ago stops at such a line, however right it was then. Write what replaced it.
    """

    code: ClassVar[str] = "API-DEPRECATED"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            found = next((known for known in _KNOWN if re.search(known.raised, text)), None)
            if found is None:
                continue
            site = symptom.site
            line = "" if site is None else case.sources.line(site)
            changed = re.sub(found.old, found.new, line)
            remedy = found.advice if changed == line else f"Change the line to `{changed}`."
            if changed != line and "trust" in found.advice:
                remedy = f"{remedy} Only do this if you trust the file: loading it can run code from it."
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.0)],
                component="program",
                site=site,
                summary=symptom.message,
                reason=found.why,
                remedy=remedy,
                refutation="None: the program cannot run like this.",
                explains=ANY,
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a loss that is indexed",
            lambda: Trace(
                facts={
                    "run": {
                        "example": RunFact(
                            "example",
                            "train.py",
                            status="failed",
                            exception="IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` in Python",
                            exception_site=Site("train.py", 20),
                        )
                    }
                }
            ),
        ),
    )
