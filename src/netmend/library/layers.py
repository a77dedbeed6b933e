"""The layers of PyTorch: which have weights, what their first size is called, which pass values on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """A kind of layer; `ranks`: it exists as `Conv1d`, `Conv2d`, `Conv3d`."""

    kind: str  # "Conv"
    ranks: tuple[int, ...] = ()
    takes: str = ""  # the argument that says how wide its input is
    place: int = 0  # of that argument
    weights: bool = True
    linear: bool = False  # an affine map of its input
    recurrent: bool = False
    passes: bool = False  # gives on what it is given: no unit of its own, no activation

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.kind}{rank}d" for rank in self.ranks) if self.ranks else (self.kind,)


_ALL = (1, 2, 3)
LAYERS = (
    Layer("Linear", takes="in_features", linear=True),
    Layer("Bilinear", takes="in1_features"),
    Layer("Conv", _ALL, takes="in_channels", linear=True),
    Layer("ConvTranspose", _ALL, takes="in_channels", linear=True),
    Layer("Embedding"),
    Layer("EmbeddingBag"),
    Layer("LSTM", takes="input_size", recurrent=True),
    Layer("GRU", takes="input_size", recurrent=True),
    Layer("RNN", takes="input_size", recurrent=True),
    Layer("LSTMCell", takes="input_size", recurrent=True),
    Layer("GRUCell", takes="input_size", recurrent=True),
    Layer("RNNCell", takes="input_size", recurrent=True),
    Layer("BatchNorm", _ALL, takes="num_features", passes=True),
    Layer("SyncBatchNorm", takes="num_features"),
    Layer("LayerNorm", takes="normalized_shape"),
    Layer("GroupNorm", takes="num_channels", place=1),
    Layer("InstanceNorm", _ALL, takes="num_features"),
    Layer("MultiheadAttention", takes="embed_dim"),
    Layer("TransformerEncoderLayer"),
    Layer("TransformerDecoderLayer"),
    Layer("TransformerEncoder"),
    Layer("TransformerDecoder"),
    Layer("Transformer"),
    Layer("PReLU"),
    Layer("Dropout", weights=False, passes=True),
    Layer("AlphaDropout", weights=False, passes=True),
    Layer("Flatten", weights=False, passes=True),
    Layer("Unflatten", weights=False, passes=True),
    Layer("Identity", weights=False, passes=True),
    Layer("AvgPool", _ALL, weights=False, passes=True),
    Layer("AdaptiveAvgPool", _ALL, weights=False, passes=True),
    Layer("MaxPool", _ALL, weights=False),
)


def named(*kinds: str) -> tuple[str, ...]:
    """The full names of some kinds: `Conv` → Conv1d, Conv2d, Conv3d."""
    return tuple(name for kind in kinds for layer in LAYERS if layer.kind == kind for name in layer.names)


RECURRENT_CELLS = tuple(layer.kind for layer in LAYERS if layer.recurrent)
RECURRENT = tuple(kind for kind in RECURRENT_CELLS if not kind.endswith("Cell"))
CONVOLUTIONS = named("Conv")
LINEAR = tuple(name for layer in LAYERS if layer.linear for name in layer.names)
BATCH_NORMS = named("BatchNorm")
NORM_OF_RANK = {
    2: "BatchNorm1d",
    3: "BatchNorm1d",
    4: "BatchNorm2d",
    5: "BatchNorm3d",
}  # by the rank of what it is given
DROPOUTS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d")
PASSING = tuple(layer.kind for layer in LAYERS if layer.passes)  # beginnings of names
