"""The network of a configuration, as nn.Sequential or as a class of one's own."""

from __future__ import annotations

from bench.faults22.configuration import Configuration, Layer
from bench.faults22.layers import FUNCTIONS, MODULES, after, creation, written_activation
from bench.faults22.page import Page
from bench.faults22.styles import Style

_HARD_SIGMOID = """
def hard_sigmoid(x):
    return torch.clamp(0.2 * x + 0.5, 0.0, 1.0)
"""
_HARD_SIGMOID_MODULE = """
class HardSigmoid(nn.Module):
    def forward(self, x):
        return torch.clamp(0.2 * x + 0.5, 0.0, 1.0)

"""
Names = dict[int, tuple[str, ...]]  # layer: names of its modules in the model


def write_network(page: Page, configuration: Configuration, style: Style) -> Names:
    if style.network == "class":
        return _class(page, configuration, style)
    return _sequential(page, configuration, style)


def write_helpers(page: Page, configuration: Configuration, style: Style) -> None:
    """What PyTorch has not, or has with another slope: Keras 2 has clip(0.2 x + 0.5)."""
    if not any(layer.activation == "hard_sigmoid" for layer in configuration.layers):
        return
    page.gap()
    page.add(_HARD_SIGMOID if style.network == "class" else _HARD_SIGMOID_MODULE)


def weight_of(layer: int, names: Names, style: Style) -> str:
    """How the program calls the module that holds the layer's weights."""
    name = names[layer][0]
    return f"model[{name}]" if style.network == "sequential" else f"model.{name}"


def _activation(layer: Layer, configuration: Configuration, style: Style) -> str:
    is_last = layer is configuration.layers[-1]
    units = next((item.units for item in reversed(configuration.layers) if item.units), 0)
    return written_activation(layer, style, is_last, units)


def _sequential(page: Page, configuration: Configuration, style: Style) -> Names:
    names: Names = {}
    position, shape = 0, configuration.input_shape
    page.gap()
    page.add("model = nn.Sequential(")
    for layer in configuration.layers:
        mine = []
        calls = [creation(layer, shape), MODULES.get(_activation(layer, configuration, style), "")]
        for call in filter(None, calls):
            page.add(f"{call},", layer.index, indent=4)
            mine.append(str(position))
            position += 1
        names[layer.index] = tuple(mine)
        shape = after(layer, shape)
    page.add(")")
    return names


def _class(page: Page, configuration: Configuration, style: Style) -> Names:
    names: Names = {}
    shape = configuration.input_shape
    count = {"conv2d": 0, "dense": 0, "dropout": 0}
    short = {"conv2d": "conv", "dense": "fc", "dropout": "drop"}
    page.gap()
    page.add("\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()")
    for layer in configuration.layers:
        if layer.kind in count:
            count[layer.kind] += 1
            name = f"{short[layer.kind]}{count[layer.kind]}"
            names[layer.index] = (name,)
            page.add(f"self.{name} = {creation(layer, shape)}", layer.index, indent=8)
        else:
            names[layer.index] = ()
        shape = after(layer, shape)
    page.add("\n    def forward(self, x):")
    for layer in configuration.layers:
        value = f"self.{names[layer.index][0]}(x)" if names[layer.index] else "x"
        if layer.kind == "maxpool2d":
            value = f"F.max_pool2d(x, {layer.pool})"
        elif layer.kind == "flatten":
            value = "torch.flatten(x, 1)"
        value = FUNCTIONS[_activation(layer, configuration, style)].format(value)
        start = "return" if layer is configuration.layers[-1] else "x ="
        page.add(f"{start} {value}", layer.index, indent=8)
    page.add("\n\nmodel = Net()")
    return names
