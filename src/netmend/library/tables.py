"""Tables: what readers of pandas do that a program can be judged by."""

# Texts that `pandas.read_csv` and its sisters take for missing, as long as keep_default_na is not False.
READ_AS_MISSING = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None",
    "n/a", "nan", "null",
)  # fmt: skip
