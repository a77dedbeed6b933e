"""What the ports make smaller than published, so that one training takes seconds on one core, and why.

Epochs, batch sizes, learning rates, layers and kernels stay as published everywhere; both sides of a fault get
the same data, so that the numbers of their steps stay in the published proportion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bench.faults22.configuration import Configuration, Layer


@dataclass(frozen=True)
class Port:
    """How much data a fault's programs get, and what else is smaller than published."""

    data: str = ""  # name of a data set; "": the program generates its own
    train: int = 0
    test: int = 0
    side: int = 0  # height and width of the images
    inputs: int = 0  # length of the inputs that are no images
    widths: Mapping[int, int] = field(default_factory=dict)  # layer: its units or filters here
    reductions: tuple[str, ...] = ()

    def scaled(self, configuration: Configuration) -> Configuration:
        """The configuration as the port trains it."""
        shape = configuration.input_shape
        if self.inputs:
            shape = (self.inputs,)
        if self.side and len(shape) == 3:
            shape = (self.side, self.side, shape[2])
        layers = tuple(self._narrowed(layer) for layer in configuration.layers)
        return replace(configuration, input_shape=shape, layers=layers)

    def _narrowed(self, layer: Layer) -> Layer:
        width = self.widths.get(layer.index, 0)
        if not width:
            return layer
        return replace(layer, units=width) if layer.units else replace(layer, filters=width)


_DIGITS = Port(
    data="mnist",
    train=1_500,
    test=500,
    side=14,
    reductions=(
        "1,500 of 60,000 training and 500 of 10,000 test images: 144 steps instead of 5,628",
        "images averaged to 14×14 (28×28 makes a step 7 times as dear)",
    ),
)
_MIDDLE = "images 24×24 (middle of the 28×28 stand-in) instead of 32×32 (twice as dear)"
_PHOTOGRAPHS = Port(
    data="fashion",
    train=320,
    test=1_000,
    side=24,
    reductions=(
        "320 of 50,000 training and 1,000 of 10,000 test images (a fifth of the training part held out, as "
        "published): 4 steps per epoch instead of 625, so that 50 epochs stay 50",
        _MIDDLE,
    ),
)
_ONE_EPOCH = replace(
    _PHOTOGRAPHS,
    train=640,
    reductions=(
        "640 of 50,000 training and 1,000 of 10,000 test images (a fifth of the training part held out, as "
        "published): 8 against 400 steps instead of 625 against 31,250",
        _MIDDLE,
    ),
)
_TEXTS = Port(
    data="words",
    train=8_982,
    test=2_246,
    inputs=1_000,
    reductions=("1,000 words instead of 10,000 (a step of Adam on 5 million weights is 9 times as dear)",),
)

PORTS: dict[str, Port] = {
    "D1": Port(),
    "D2": Port(
        data="higgs",
        train=1_120,
        test=480,
        reductions=(
            "1,600 rows instead of 10,000 (70/30 as published): 1,120 against 1,800 steps instead of 7,000 "
            "against 11,000",
        ),
    ),
    "D3": Port(),
    "D4": Port(
        data="mnist",
        train=2_000,
        test=500,
        side=28,
        reductions=(
            "2,000 of 60,000 training and 500 of 10,000 test images: 6,000 steps instead of 180,000",
        ),
    ),
    "D5": Port(
        data="fashion",
        train=3_000,
        test=500,
        side=16,
        widths={0: 64, 2: 32, 5: 256},
        reductions=(
            "3,000 of 50,000 training and 500 of 10,000 test images: 15 against 90 steps instead of 250 against 1,500",
            "images averaged to 14×14 and padded to 16×16 instead of 32×32",
            "a quarter of the filters and units (64, 32, 256 instead of 256, 128, 1,024): in full one training "
            "would take minutes",
        ),
    ),
    "D6": Port(),
    "D7": Port(),
    "D8": Port(),
    "D9": Port(
        data="mnist",
        train=2_000,
        test=500,
        side=14,
        reductions=(
            "2,000 of 60,000 training and 500 of 10,000 test images",
            "images averaged to 14×14 (28×28 makes a step 4 times as dear)",
        ),
    ),
    **dict.fromkeys(("M1", "M2", "M3"), _DIGITS),
    "C1": _PHOTOGRAPHS,
    "C2": _ONE_EPOCH,
    "C3": _PHOTOGRAPHS,
    **dict.fromkeys(("R1", "R2", "R3", "R4", "R5", "R6", "R7"), _TEXTS),
}
