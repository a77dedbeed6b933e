"""How the weights start: Glorot uniform with zero bias unless the configuration says otherwise.

PyTorch starts layers differently, so the published start is written out, as one loop with exceptions or line by line.
"""

from __future__ import annotations

from collections import Counter

from bench.faults22.configuration import Configuration, standard_deviation
from bench.faults22.network import Names, weight_of
from bench.faults22.page import Page
from bench.faults22.styles import Style

_CALLS = {
    "glorot_uniform": "nn.init.xavier_uniform_({})",
    "zeros": "nn.init.zeros_({})",
    "ones": "nn.init.ones_({})",
}
_TYPES = {"dense": "nn.Linear", "conv2d": "nn.Conv2d"}


def write_initial(page: Page, configuration: Configuration, names: Names, style: Style) -> None:
    page.gap()
    if style.initial == "lines":
        for layer in configuration.layers:
            if layer.has_weights:
                holder = weight_of(layer.index, names, style)
                page.add(call(layer.kernel_init, f"{holder}.weight"), layer.index)
                page.add(call(layer.bias_init, f"{holder}.bias"), layer.index)
        return
    weighted = [layer for layer in configuration.layers if layer.has_weights]
    usual = Counter(layer.kernel_init for layer in weighted).most_common(1)[0][0]
    bias = Counter(layer.bias_init for layer in weighted).most_common(1)[0][0]
    if len({layer.kernel_init for layer in weighted}) == len(weighted) > 1:
        usual = "glorot_uniform"
    types = sorted({_TYPES[layer.kind] for layer in weighted})
    page.add("for module in model.modules():")
    page.add(
        f"    if isinstance(module, {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}):\n"
        f"        {call(usual, 'module.weight')}\n"
        f"        {call(bias, 'module.bias')}"
    )
    for layer in weighted:
        holder = weight_of(layer.index, names, style)
        if layer.kernel_init != usual:
            page.add(call(layer.kernel_init, f"{holder}.weight"), layer.index)
        if layer.bias_init != bias:
            page.add(call(layer.bias_init, f"{holder}.bias"), layer.index)


def call(initialiser: str, what: str) -> str:
    deviation = standard_deviation(initialiser)
    if deviation is not None:
        return f"nn.init.normal_({what}, std={deviation:g})"
    return _CALLS[initialiser].format(what)
