"""The hand in which a fault's two programs are written: people write the same thing differently."""

from __future__ import annotations

from dataclasses import dataclass

# How softmax (or sigmoid) and cross-entropy, one thing in two places, are written:
LOG = "log"  # LogSoftmax in the network, NLLLoss
LOGITS = "logits"  # nothing in the network, CrossEntropyLoss or BCEWithLogitsLoss
PROBABILITIES = "probabilities"  # Softmax in the network, the logarithm in a loss of one's own


@dataclass(frozen=True)
class Style:
    network: str = "sequential"  # or "class": layers as attributes, functions in forward
    softmax: str = LOG
    loop: str = "loader"  # or "functions": train() and test(); "slices": batches cut by hand
    initial: str = "loop"  # or "lines": one line per layer
    constants: bool = True  # settings as constants at the top, or where they are used
    one_hot: bool = False  # labels as rows of zeros and one 1
    held_out: bool = False  # a fifth of the training data is kept for validation


_DIGITS = Style(loop="functions", initial="lines")
_PHOTOGRAPHS = Style(network="class", softmax=LOGITS, held_out=True)
_TEXTS = Style(held_out=True)
_SMALL = Style(loop="slices", constants=False, softmax=PROBABILITIES, one_hot=True)

STYLES: dict[str, Style] = {
    "D1": Style(constants=False),
    # On unscaled inputs a sigmoid is saturated from the start; Keras computes this loss from the logits, too.
    "D2": Style(constants=False, softmax=LOGITS),
    "D3": Style(loop="slices", constants=False, softmax=PROBABILITIES, one_hot=True, initial="lines"),
    "D4": Style(loop="slices", softmax=PROBABILITIES, one_hot=True),
    "D5": Style(),
    "D6": _SMALL,
    "D7": Style(loop="slices", constants=False),
    "D8": _SMALL,
    "D9": Style(loop="functions", constants=False),
    "M1": _DIGITS,
    "M2": _DIGITS,
    "M3": _DIGITS,
    "C1": _PHOTOGRAPHS,
    "C2": _PHOTOGRAPHS,
    "C3": _PHOTOGRAPHS,
    "R1": _TEXTS,
    # Outputs that are no distribution, or another loss than cross-entropy: the loss has to see the activation.
    "R2": Style(held_out=True, softmax=PROBABILITIES, one_hot=True),
    "R3": _TEXTS,
    "R4": Style(held_out=True, softmax=PROBABILITIES, one_hot=True),
    "R5": _TEXTS,
    "R6": _TEXTS,
    "R7": _TEXTS,
}
