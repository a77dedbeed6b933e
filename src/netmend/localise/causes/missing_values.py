"""Missing values in disguise, words taken for missing values, and gaps filled from rows that have nothing to do with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.diagnose.detectors.missing_values import CategoryTakenForMissing, FilledOverBorders, SentinelFed
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, WEAK, Accusation, accuses
from netmend.program.text.queries import last_name, site_of
from netmend.vocabulary import Site, Symptom

_DECLARED = {
    "pandas": "Declare it as missing when reading, na_values=[{0}], or .replace({0}, float('nan')), and fill what is missing then.",
    "polars": 'Declare it as missing when reading, null_values=["{0}"], and fill what is missing then.',
    "numpy": "Make it missing, a[a == {0}] = np.nan, and fill what is missing then: np.where(np.isnan(a), np.nanmedian(a, axis=0), a).",
    "csv": "Make it missing where the text becomes a number, float('nan') if value == {0} else value, and fill what is missing then.",
}


@accuses("PRE-MISS-CLEAN", SentinelFed)
def sentinel_fed(case: Case, symptom: Symptom) -> Accusation | None:
    """A number that stands for "not measured" is fed to the model as a value.

    It is farther from all real values than they are from each other, so scaling squeezes these together and the network mostly learns which rows
    have gaps. Declare it when reading, `pd.read_csv(…, na_values=[-200])`, and fill or drop what is missing then.
    """
    value = symptom.detail["value"]
    number = f"{value:g}"
    if symptom.detail["filled_in"]:
        return None if _marks_gaps(case) else _filled_in(case, symptom, number)
    if _compares(case, value):
        return None
    return Accusation(
        PROVEN if value else STRONG + WEAK,
        reason="It is a number like any other to imputers, means and spreads: nothing fills it, and it rules the scale of its column.",
        remedy=_DECLARED.get(symptom.detail["call"].split(".")[0], _DECLARED["pandas"]).format(number),
        refutation=f"The number {number} is a real value of these columns.",
    )


def _filled_in(case: Case, symptom: Symptom, number: str) -> Accusation:
    places = list(_fills_with_zero(case)) if symptom.detail["somewhere"] else []
    columns = ", ".join(f"`{name}`" for name in symptom.detail["columns"][:3])
    return Accusation(
        PROVEN - 1.0,
        reason=f"For the network a row with a gap now has the most extreme value of all, and {number} rules mean and spread of the column.",
        remedy="Fill with the median of the training rows, df.fillna(train.median()), and keep a column that says where values were missing (isna()).",
        refutation=f"In {columns}, what is missing really is {number}.",
        site=places[0] if len(places) == 1 else None,
    )


def _fills_with_zero(case: Case) -> Iterator[Site]:
    """Lines that put 0 in the place of what is missing: `nan_to_num(x)`, `fillna(0)`, `float(text or 0)`, `x[np.isnan(x)] = 0`."""
    for file in case.sources.files():
        for node in case.sources.nodes(file, ast.expr):
            if isinstance(node, ast.Call) and last_name(node.func) in (
                "nan_to_num",
                "nan_to_num_",
                "fillna",
                "fill_null",
            ):
                given = [*node.args, *(word.value for word in node.keywords)]
                if last_name(node.func).startswith("nan") or any(_is(part, 0.0) for part in given):
                    yield site_of(file, node)
            elif (
                isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and _is(node.values[-1], 0.0)
            ) or (isinstance(node, ast.IfExp) and _is(node.orelse, 0.0)):
                yield site_of(file, node)
        for stored in case.sources.nodes(file, ast.Assign):
            target = stored.targets[0]
            asks = any(isinstance(part, ast.Attribute) and part.attr in _ASKING for part in ast.walk(target))
            if isinstance(target, ast.Subscript) and asks and _is(stored.value, 0.0):
                yield site_of(file, stored)


_ASKING = frozenset(("isna", "isnull", "notna", "notnull", "isnan", "is_null", "is_not_null", "is_nan"))
_KEEPING = frozenset(("astype", "cast", "to_numpy", "float", "int", "long", "alias"))


def _marks_gaps(case: Case) -> bool:
    """Does the program keep where values were missing, as inputs of their own?"""
    for file in case.sources.files():
        for node in case.sources.nodes(file, ast.Call):
            named = isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING
            if named and any(
                isinstance(part, ast.Attribute) and part.attr in _ASKING for part in ast.walk(node.func)
            ):
                return True
            if any(word.arg == "add_indicator" for word in node.keywords):
                return True
        for stored in case.sources.nodes(file, ast.Assign):
            value = stored.value
            asked = (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr in _ASKING
            )
            if asked:
                return True
    return False


def _compares(case: Case, value: float) -> bool:
    """Does the program ask for this number somewhere: an indicator of its own, or rows that are treated apart?"""
    return bool(value) and any(
        _is(part, value)
        for file in case.sources.files()
        for node in case.sources.nodes(file, ast.Compare)
        for part in (node.left, *node.comparators)
    )


def _is(node: ast.AST, value: float) -> bool:
    try:
        return isinstance(node, ast.Constant | ast.UnaryOp) and float(ast.literal_eval(node)) == value
    except (TypeError, ValueError):
        return False


@accuses("PRE-MISS-CLEAN", CategoryTakenForMissing)
def category_taken_for_missing(case: Case, symptom: Symptom) -> Accusation:
    """A category is read as missing, because its name is on pandas' list of words for missing values.

    Its rows are dropped, filled with another category or left without a code, and the network never sees them; where the test part loses them too,
    no score shows it. Read with `keep_default_na=False, na_values=[""]`.
    """
    return Accusation(
        PROVEN if symptom.detail["is_code"] else STRONG + WEAK,
        reason=f'Readers of pandas take the word "{symptom.detail["word"]}" for a missing value, so a whole category is lost.',
        remedy='Read with keep_default_na=False, na_values=[""], so that only empty fields are missing.',
        refutation=f'The word "{symptom.detail["word"]}" means that the value is missing.',
    )


@accuses("PRE-MISS-CLEAN", FilledOverBorders)
def filled_over_borders(case: Case, symptom: Symptom) -> Accusation:
    """Gaps are filled across the border between two series, so one takes over the value of another.

    What looks like a measurement belongs to somebody else. Fill within each: `df.groupby("device")["x"].ffill()`, in polars
    `pl.col("x").forward_fill().over("device")`.
    """
    column, over = symptom.detail["column"], symptom.detail["over"]
    return Accusation(
        PROVEN,
        reason="The rows of each series stand together, and filling goes on from the last row of one into the first of the next.",
        remedy=f'Fill within each: df.groupby("{over}")["{column}"].ffill(), or in polars pl.col("{column}").forward_fill().over("{over}").',
        refutation=f"All values of `{over}` share one `{column}` that is written down once.",
    )
