"""Layers whose sizes are written as numbers.

What shapes and stacks of layers prove, they prove where numbers stand. A library's classes take their sizes from a configuration: their methods are
not entered on their own for such rules, which makes large code bases several times faster to check. Programs that build a model are not concerned.
"""

from __future__ import annotations

_LAYERS = (
    *("Linear", "Conv1d", "Conv2d", "Conv3d", "Transpose1d", "Transpose2d", "LSTM", "GRU", "RNN"),
    *("Norm1d", "Norm2d", "LayerNorm", "Embedding", "MaxPool2d", "AvgPool2d"),
)
# The bracket comes first, and then what stands before it: regular expressions are quick where they begin with a character.
LITERAL_LAYERS = rf"\((?:{'|'.join(rf'(?<={layer}[(])' for layer in _LAYERS)})\s*(?:\w+\s*=\s*)?\d"
