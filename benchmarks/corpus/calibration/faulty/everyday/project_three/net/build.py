from torch import nn

ACTIVATIONS = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "softmax": lambda: nn.Softmax(dim=-1),
}


def mlp(n_in, n_out, widths, activation):
    sizes = [n_in, *widths]
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers.extend([nn.Linear(a, b), ACTIVATIONS[activation]()])
    return nn.Sequential(*layers, nn.Linear(sizes[-1], n_out))
