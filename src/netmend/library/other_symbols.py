"""Names and arguments of numpy and Keras that are gone, from their release notes."""

from __future__ import annotations

from netmend.library.symbol import Argument, Symbol

_NUMPY = "numpy release notes"
_KERAS = "Keras release notes"

SYMBOLS: tuple[Symbol, ...] = (
    Symbol("numpy.float", "1.20", "1.24", "float or np.float64", _NUMPY),
    Symbol("numpy.int", "1.20", "1.24", "int or np.int64", _NUMPY),
    Symbol("numpy.bool", "1.20", "1.24", "bool or np.bool_", _NUMPY, back="2.0"),
    Symbol("numpy.object", "1.20", "1.24", "object", _NUMPY),
    Symbol("numpy.complex", "1.20", "1.24", "complex or np.complex128", _NUMPY),
    Symbol("numpy.float_", "2.0", "2.0", "np.float64", _NUMPY),
    Symbol("numpy.Inf", "2.0", "2.0", "np.inf", _NUMPY),
    Symbol("numpy.NaN", "2.0", "2.0", "np.nan", _NUMPY),
    Symbol("numpy.product", "1.25", "2.0", "np.prod", _NUMPY),
    Symbol("numpy.cumproduct", "1.25", "2.0", "np.cumprod", _NUMPY),
    Symbol("numpy.alltrue", "1.25", "2.0", "np.all", _NUMPY),
    Symbol("numpy.sometrue", "1.25", "2.0", "np.any", _NUMPY),
    Symbol("numpy.str", "1.20", "1.24", "str or np.str_", _NUMPY),
    Symbol("numpy.long", "1.20", "1.24", "int or np.int64", _NUMPY, back="2.0"),
    Symbol("numpy.unicode_", "2.0", "2.0", "np.str_", _NUMPY),
    Symbol("numpy.string_", "2.0", "2.0", "np.bytes_", _NUMPY),
    Symbol("numpy.complex_", "2.0", "2.0", "np.complex128", _NUMPY),
    Symbol("numpy.infty", "2.0", "2.0", "np.inf", _NUMPY),
    Symbol("numpy.PINF", "2.0", "2.0", "np.inf", _NUMPY),
    Symbol("numpy.NINF", "2.0", "2.0", "-np.inf", _NUMPY),
    Symbol("numpy.NAN", "2.0", "2.0", "np.nan", _NUMPY),
    Symbol("numpy.asfarray", "2.0", "2.0", "np.asarray(x, dtype=float)", _NUMPY),
    Symbol("numpy.msort", "1.24", "2.0", "np.sort(x, axis=0)", _NUMPY),
    Symbol("numpy.in1d", "2.0", "2.4", "np.isin", _NUMPY),
    Symbol("numpy.trapz", "2.0", "2.4", "np.trapezoid", _NUMPY),
    Symbol("keras.layers.recurrent", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.normalization", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.pooling", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.embeddings", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.wrappers", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.experimental", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.engine", "2.12", "3.0", "keras.layers and keras.Model", _KERAS),
    Symbol("keras.objectives", "2.0", "2.2", "keras.losses", _KERAS),
    Symbol("keras.wrappers.scikit_learn", "2.6", "2.13", "the package scikeras", _KERAS),
    Symbol("keras.utils.vis_utils", "2.4", "2.13", "keras.utils.plot_model", _KERAS),
    Symbol("keras.layers.merge", "2.0", "2.2", "keras.layers.concatenate, add, …", _KERAS),
    Symbol("keras.layers.core", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.convolutional", "2.12", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.advanced_activations", "2.4", "3.0", "keras.layers", _KERAS),
    Symbol("keras.layers.CuDNNLSTM", "2.4", "3.0", "keras.layers.LSTM", _KERAS),
    Symbol("keras.layers.CuDNNGRU", "2.4", "3.0", "keras.layers.GRU", _KERAS),
    Symbol("keras.utils.np_utils", "2.4", "2.13", "keras.utils.to_categorical", _KERAS),
    Symbol("keras.utils.multi_gpu_model", "2.3", "3.0", "tf.distribute.MirroredStrategy", _KERAS),
    Symbol("keras.backend.set_image_dim_ordering", "2.0", "2.2", "keras.backend.set_image_data_format", _KERAS),
    Symbol("keras.backend.image_dim_ordering", "2.0", "2.2", "keras.backend.image_data_format", _KERAS),
    Symbol("keras.backend.set_session", "2.3", "3.0", "nothing: there are no sessions", _KERAS),
    Symbol("keras.backend.get_session", "2.3", "3.0", "nothing: there are no sessions", _KERAS),
)  # fmt: skip

ARGUMENTS: tuple[Argument, ...] = (
    Argument("keras.optimizers.", "lr", "2.3", "2.11", "learning_rate= (lr is refused, or left out without a word)", _KERAS),
    Argument("keras.optimizers.", "decay", "2.11", "2.11", "keras.optimizers.schedules or weight_decay=", _KERAS),
    *(Argument("keras.layers.", old, "2.0", "3.0", f"{new}=", _KERAS) for old, new in (
        ("nb_filter", "filters"), ("border_mode", "padding"), ("subsample", "strides"), ("W_regularizer", "kernel_regularizer"),
        ("dim_ordering", "data_format"), ("inner_activation", "recurrent_activation"), ("b_regularizer", "bias_regularizer"))),
)  # fmt: skip

METHODS: tuple[Symbol, ...] = (
    Symbol("keras.Model.predict_classes", "2.5", "2.6", "model.predict(x).argmax(axis=-1)", _KERAS),
    Symbol("keras.Model.predict_proba", "2.5", "2.6", "model.predict(x)", _KERAS),
    Symbol("keras.Model.fit_generator", "2.4", "3.0", "model.fit", _KERAS),
    Symbol("keras.Model.evaluate_generator", "2.4", "3.0", "model.evaluate", _KERAS),
    Symbol("keras.Model.predict_generator", "2.4", "3.0", "model.predict", _KERAS),
)  # fmt: skip
