"""What the calls of pandas, polars and scikit-learn do to the rows of a table: keep them, take some, put them into another order."""

from __future__ import annotations

READERS = ("pandas.read_", "polars.read_", "polars.scan_")
SQL_READERS = ("pandas.read_sql", "pandas.read_sql_query", "polars.read_database")
TEXT_READERS = frozenset(("csv.DictReader", "csv.reader", "numpy.loadtxt", "numpy.genfromtxt", "open"))
LISTINGS = frozenset(("os.listdir", "os.scandir", "glob.glob", "glob.iglob"))
LISTING_METHODS = frozenset(("glob", "rglob", "iterdir"))

# Methods that give every row back, in its place.
SAME_ROWS = frozenset(
    ("abs", "add_prefix", "add_suffix", "apply", "assign", "astype", "between", "bfill", "clip", "collect", "copy", "cumsum", "diff",
     "ffill", "fill_null", "fillna", "get", "isin", "isna", "lazy", "map", "mask", "notna", "pct_change", "pop", "rank", "rename", "replace",
     "replace_strict", "round", "select", "shift", "squeeze", "to_frame", "to_pandas", "where", "with_columns")
)  # fmt: skip
# Methods that give an array of the same rows.
TO_ARRAY = frozenset(
    ("astype", "bool", "cpu", "cuda", "double", "fetchall", "float", "half", "int", "log", "log1p", "long", "numpy", "ravel", "squeeze",
     "to", "toarray", "to_list", "to_numpy", "to_torch", "todense", "tolist", "unsqueeze", "view", "reshape", "exp", "sqrt", "to_physical")
)  # fmt: skip
SOME_ROWS = frozenset(
    (
        "dropna",
        "drop_duplicates",
        "query",
        "nlargest",
        "nsmallest",
        "filter",
        "drop_nulls",
        "drop_nans",
        "unique",
    )
)
SORTS = frozenset(("sort_values", "sort_index", "sort"))
TRANSFORMS = frozenset(("transform", "fit_transform"))
AGGREGATES = frozenset(
    (
        "agg",
        "aggregate",
        "sum",
        "mean",
        "count",
        "size",
        "min",
        "max",
        "median",
        "first",
        "last",
        "std",
        "nunique",
        "len",
    )
)
# Functions of NumPy and torch that give an array of the same rows, and those that give what they are given, changed one by one.
ARRAYS = frozenset(
    ("array", "asarray", "stack", "tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "Tensor")
)
ELEMENTWISE = frozenset(
    ("log", "log1p", "log2", "log10", "sqrt", "exp", "expm1", "abs", "clip", "nan_to_num", "round", "float32", "sin", "cos", "where")
)  # fmt: skip
