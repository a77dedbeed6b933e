"""The layers and optimisers of Keras: what they keep of their input, and the rates that people use with them."""

from __future__ import annotations

ACTIVATION_LAYERS = {"Softmax": "softmax", "ReLU": "relu", "LeakyReLU": "leaky_relu", "ELU": "elu", "PReLU": "prelu", "ThresholdedReLU": "relu"}  # fmt: skip
SEQUENCE_LAYERS = (
    "LSTM",
    "GRU",
    "SimpleRNN",
    "RNN",
    "Bidirectional",
    "ConvLSTM2D",
    "Conv1D",
    "TimeDistributed",
)
ELEMENTWISE_LAYERS = ("Dense", "Dropout", "Activation", "ReLU", "BatchNormalization", "Softmax", "LeakyReLU")
LINEAR_BETWEEN = ("Dropout", "Flatten", "BatchNormalization")
# Pixels that go in as 0 to 255 come out of these about as large.
KEEP_RANGE = (
    *("Input", "InputLayer", "Flatten", "Reshape", "Conv2D", "Dense", "MaxPooling2D", "ZeroPadding2D", "Dropout", "RandomFlip"),
    *("RandomRotation", "RandomCrop", "RandomZoom", "AveragePooling2D", "Permute", "SeparableConv2D"),
)  # fmt: skip
CUT_OFF = ("relu", "leaky_relu", "elu", "selu", "tanh", "relu6", "gelu")
USUAL_RATES = {
    "SGD": (1e-5, 1.0), "Adam": (1e-6, 0.02), "AdamW": (1e-6, 0.02), "Nadam": (1e-6, 0.02), "Adamax": (1e-6, 0.05), "RMSprop": (1e-6, 0.02),
}  # fmt: skip
OPTIMISERS = (*USUAL_RATES, "Adagrad", "Adadelta", "Ftrl", "Lion", "Adafactor")
# Array methods and functions that keep the numbers.
SAME_NUMBERS = ("reshape", "astype", "copy", "flatten", "ravel", "squeeze", "transpose")
SAME_NUMBERS_FUNCTIONS = (
    *(
        f"numpy.{name}"
        for name in ("expand_dims", "reshape", "array", "asarray", "squeeze", "float32", "transpose")
    ),
    *(f"tensorflow.{name}" for name in ("convert_to_tensor", "cast", "expand_dims", "reshape")),
)
