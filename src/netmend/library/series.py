"""Functions and methods of pandas, polars, NumPy and SciPy on series: which keep each row at its place, which look back, which look ahead."""

from __future__ import annotations

# Methods that give every row a value of that row alone (or drop rows, for all columns alike).
AT_THE_ROW = frozenset(
    ("abs", "add", "alias", "apply", "assign_coords", "astype", "between", "bfill", "cast", "ceil", "clip", "clip_lower", "clip_upper", "collect",
     "combine_first", "contiguous", "copy", "cpu", "cuda", "detach", "div", "double", "drop_duplicates", "drop_nans", "drop_nulls", "droplevel",
     "dropna", "eq", "exp", "ffill", "fill_nan", "fill_null", "fillna", "filter", "flatten", "float", "floor", "forward_fill", "backward_fill", "ge",
     "gt", "half", "head", "infer_objects", "interpolate", "is_in", "isin", "lazy", "le", "log", "log10", "log1p", "log2", "lt", "map", "mask", "mul",
     "ne", "notna", "notnull", "numpy", "over", "permute", "pow", "query", "ravel", "rename", "reshape", "reset_index", "round", "set_index",
     "set_sorted", "sort", "sort_index", "sort_values", "sqrt", "squeeze", "sub", "tail", "tanh", "to", "to_frame", "to_numpy", "to_pandas",
     "to_torch", "tolist", "transform", "transpose", "truediv", "type", "unsqueeze", "view", "where", "with_row_index", "add_prefix", "add_suffix",
     "long", "int", "clone", "fit_transform", "clamp", "sin", "cos", "expm1", "subtract", "multiply", "divide", "floordiv", "mod", "is_null",
     "is_not_null", "isna", "isnull", "to_list", "to_series", "pipe", "set_axis", "tz_localize", "tz_convert", "replace", "mean_", "sort_by")
)  # fmt: skip
# Functions of one or several arrays that work element by element, or only change how numbers are stored.
ELEMENTWISE = frozenset(
    ("abs", "absolute", "add", "array", "as_tensor", "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "clamp", "clip", "concat",
     "column_stack", "concatenate", "cat", "cos", "divide", "dstack", "equal", "exp", "expand_dims", "expm1", "float32", "float64", "from_numpy",
     "greater", "greater_equal", "hstack", "isfinite", "isnan", "less", "log", "log10", "log1p", "log2", "logical_and", "logical_or", "maximum",
     "minimum", "multiply", "nan_to_num", "power", "ravel", "reshape", "sign", "sin", "sqrt", "square", "squeeze", "stack", "subtract", "swapaxes",
     "tanh", "tensor", "FloatTensor", "LongTensor", "Tensor", "transpose", "unsqueeze", "vstack", "where", "from_dataframe", "int64", "list", "tuple",
     "to_numeric", "to_datetime", "Series", "flatten", "permute", "moveaxis", "deg2rad", "arctan2", "hypot", "float", "Dataset")
)  # fmt: skip
BACK = frozenset(
    (
        "expanding",
        "ewm",
        "cumsum",
        "cummax",
        "cummin",
        "cumprod",
        "cum_sum",
        "cum_max",
        "cum_min",
        "ewm_mean",
        "ewm_std",
        "cumcount",
    )
)
SHIFTS = frozenset(("shift", "diff", "pct_change", "lag"))
# What is taken over a window, a group or all rows.
SUMMARIES = frozenset(
    ("mean", "std", "sum", "min", "max", "median", "var", "quantile", "count", "nunique", "skew", "kurt", "sem", "first", "last", "agg", "aggregate",
     "size", "prod", "n_unique", "mode", "any", "all", "argmax", "argmin", "idxmax", "idxmin", "item", "len", "std_dev", "rank", "apply", "corr")
)  # fmt: skip
# Statistics over a group that hold each of its rows: by name, as `transform` and `agg` take them.
STATISTICS = frozenset(("mean", "sum", "max", "min", "median", "std", "var", "nanmean", "first", "last"))
# Filters that look at both sides of every row: the place of their length among the arguments, None where they reach the whole series.
TWO_SIDED: dict[str, tuple[str, int] | None] = {
    "scipy.signal.savgol_filter": ("window_length", 1), "scipy.signal.filtfilt": None, "scipy.signal.sosfiltfilt": None,
    "scipy.signal.medfilt": ("kernel_size", 1), "scipy.signal.wiener": ("mysize", 1), "scipy.signal.detrend": None, "scipy.signal.hilbert": None,
    "scipy.ndimage.gaussian_filter1d": None, "scipy.ndimage.gaussian_filter": None, "scipy.ndimage.uniform_filter1d": ("size", 1),
    "scipy.ndimage.uniform_filter": ("size", 1), "scipy.ndimage.median_filter": ("size", 1), "scipy.ndimage.filters.gaussian_filter1d": None,
    "numpy.fft.irfft": None, "numpy.fft.ifft": None, "scipy.fft.irfft": None, "scipy.fft.ifft": None, "scipy.fftpack.irfft": None,
    "scipy.fftpack.ifft": None, "scipy.fft.idct": None, "pywt.waverec": None, "torch.fft.irfft": None,
    "statsmodels.nonparametric.smoothers_lowess.lowess": None, "scipy.interpolate.UnivariateSpline": None, "scipy.interpolate.make_smoothing_spline": None,
    "statsmodels.tsa.seasonal.seasonal_decompose": None, "statsmodels.tsa.seasonal.STL": None, "statsmodels.tsa.filters.hp_filter.hpfilter": None,
    "statsmodels.api.tsa.seasonal_decompose": None, "statsmodels.api.tsa.filters.hpfilter": None, "skimage.restoration.denoise_wavelet": None,
}  # fmt: skip
# Filters that are two-sided only with mode="same".
CENTRED_WITH_SAME = frozenset(
    ("numpy.convolve", "scipy.signal.convolve", "scipy.signal.fftconvolve", "scipy.signal.oaconvolve")
)
# Steps of such a filter that hand the series on: `pywt.waverec(threshold(pywt.wavedec(x)))`.
WITHIN_FILTERS = frozenset(
    ("numpy.fft.rfft", "numpy.fft.fft", "scipy.fft.rfft", "scipy.fft.fft", "scipy.fftpack.rfft", "scipy.fftpack.fft", "scipy.fft.dct", "pywt.wavedec",
     "pywt.threshold", "torch.fft.rfft", "scipy.signal.lfilter", "scipy.signal.sosfilt")
)  # fmt: skip
# The argument that holds the series where it is not the first.
SERIES_AT = {
    "scipy.signal.filtfilt": 2, "scipy.signal.sosfiltfilt": 1, "scipy.signal.lfilter": 2, "scipy.signal.sosfilt": 1,
    "scipy.interpolate.UnivariateSpline": 1, "scipy.interpolate.make_smoothing_spline": 1,
}  # fmt: skip
