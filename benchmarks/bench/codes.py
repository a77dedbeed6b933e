"""What netmend tells, in the fourteen codes of the published study of 22 faults, with the layers counted as the study counts them.

The table was fixed by the meaning of the codes before any score was seen, and the 22 programs may not be used to change it.
A cause without a code stays in the answer under its own name: it matches nothing and lowers precision, as any wrong answer does.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from bench.faults22.facts import Atom
from bench.faults22.programs import Written
from netmend.vocabulary import LEAVES, Fault, Site

CODES = {
    "HBS": "wrong batch size",
    "HLR": "wrong learning rate",
    "HNE": "wrong number of epochs",
    "ACH": "wrong activation function",
    "RAW": "redundant weight regularisation",
    "WCI": "wrong weight initialisation",
    "LCH": "wrong loss function",
    "OCH": "wrong optimiser",
    "LRM": "missing layer",
    "LAD": "redundant layer",
    "LCN": "wrong number of units in a layer",
    "LCF": "wrong filter size in a convolution",
    "BCI": "wrong bias initialisation",
    "CPP": "wrong data preprocessing",
}
LAYERED = frozenset(["ACH", "RAW", "WCI", "LRM", "LAD", "LCN", "LCF", "BCI"])  # codes that name layers

# Where the first published code of a leaf is not the one that its meaning calls for, or where it has none of the fourteen.
_BY_MEANING = {
    "ARC-STRUCT-SUBOPT": "LCN",  # "badly dimensioned": about sizes before it is about the number of layers
    "LYR-SOFTMAX-EXTRA": "ACH",  # the layer stays, what it applies to its output is wrong
    "LYR-NORM-MISSING": "LRM",  # a normalisation layer is a layer
    "LYR-DROPOUT-MISSING": "LRM",  # so is dropout: the study counts it
    "LYR-FLATTEN-MISSING": "LRM",
    "ACT-DIM": "ACH",  # a softmax over another axis is another function
    "HYP-LR-SCHED": "HLR",  # what the schedule makes of it is the learning rate
}

# Told at the line of the loss where the fault is what is missing before it; by their meaning they are about the last layer.
_ABOUT_OUTPUT = frozenset(
    ["ACT-OUT-MISSING", "ACT-OUT-WRONG", "LYR-SOFTMAX-MISSING", "LYR-SOFTMAX-EXTRA", "LYR-OUT-SHAPE"]
)


def code_of(leaf: str) -> str:
    """The code for a cause; the cause itself where the fourteen have none."""
    if leaf in _BY_MEANING:
        return _BY_MEANING[leaf]
    known = LEAVES.get(leaf)
    return next((alias for alias in (known.aliases if known else ()) if alias in CODES), leaf)


def answer_of(faults: Iterable[Fault], written: Written) -> tuple[Atom, ...]:
    """The answer that a diagnosis gives, the surest code first; faults of one code are one atom with all their layers."""
    return merged(
        Atom(code, _layers(fault, written) if code in LAYERED else ())
        for fault in faults
        for code in (code_of(fault.cause),)
    )


def _layers(fault: Fault, written: Written) -> tuple[int, ...]:
    found = layers_of(fault.component, fault.site, written)
    return found or ((max(written.layers),) if fault.cause in _ABOUT_OUTPUT and written.layers else ())


def merged(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    """Each code once, in the order in which they come, with the layers of all."""
    layers: dict[str, set[int]] = {}
    for atom in atoms:
        layers.setdefault(atom.code, set()).update(atom.layers)
    return tuple(Atom(code, tuple(sorted(found))) for code, found in layers.items())


def layers_of(component: str, site: Site | None, written: Written) -> tuple[int, ...]:
    """The layers that a component is, or else those that a line makes; none when neither belongs to a layer."""
    return _of_component(component, written) or _of_line(site, written)


def _of_component(component: str, written: Written) -> tuple[int, ...]:
    """By the longest name that fits: of "model.block.0", "block.0" is meant and not "0"."""
    fitting = {
        index: max(len(name) for name in names)
        for index, place in written.layers.items()
        if (names := [name for name in place.modules if component == name or component.endswith(f".{name}")])
    }
    longest = max(fitting.values(), default=0)
    return tuple(sorted(index for index, length in fitting.items() if length == longest))


def _of_line(site: Site | None, written: Written) -> tuple[int, ...]:
    if site is None or PurePath(site.file).name != written.entry.name:
        return ()
    return tuple(sorted(index for index, place in written.layers.items() if site.line in place.lines))
