"""How numbers are written in reports: three significant digits, thousands separators, shares as percentages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

_EXPONENT = re.compile(r"\b(\d+(?:\.\d+)?)e(?:\+|(-))0*(\d+)\b")
_PERCENT = re.compile(r"(\d)%(?=[\s,.;:)]|$)")
_IN_FULL = 5  # the largest power of ten that is written out
UNKNOWN = "–"  # stands where nothing was measured


def measure(value: float | None) -> str:
    """A measured value with three significant digits: 2.31, 0.0500, 12,345, 1.20e-5, nan."""
    if value is None:
        return UNKNOWN
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    size = abs(value)
    if not 1e-3 <= size < 1e6:
        return _short_exponent(f"{value:.2e}")
    if size >= 99.95:
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(size))
    text = f"{value:.{digits}f}"
    # 9.999 rounds up to 10.000: one digit too many for three significant ones.
    return f"{value:.{digits - 1}f}" if abs(float(text)) >= 10 ** (3 - digits) else text


def setting(value: Any) -> str:
    """A hyperparameter as a person would write it: 0.001, 1e-8, True, (0.9, 0.999)."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return _short_exponent(f"{value:.4g}")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "(" + ", ".join(setting(item) for item in value) + ")"
    return str(value)


def count(value: int | None) -> str:
    """A whole number, in full: 101,770."""
    return UNKNOWN if value is None else f"{value:,}"


def plural(value: int, noun: str, many: str | None = None) -> str:
    """`1 step`, `2 steps`, `2 batches` (with `many` given)."""
    return f"{count(value)} {noun if value == 1 else many or noun + 's'}"


def share(value: float | None) -> str:
    """A share of 0..1 as a percentage; never rounded to a full 0 % or 100 % that was not measured."""
    if value is None or math.isnan(value):
        return UNKNOWN
    percent = value * 100
    if percent == 0 or abs(percent) >= 100:
        return f"{percent:,.0f} %"
    if abs(percent) < 0.01:
        return "< 0.01 %" if percent > 0 else "> -0.01 %"
    if 99.95 <= percent < 100:
        return "> 99.9 %"
    if abs(percent) < 0.1:
        return f"{percent:.2f} %"
    return f"{percent:.1f} %"


def percent(value: float) -> str:
    """A share that somebody set, as it was written: 1 %, 0.5 %."""
    return f"{setting(float(f'{value * 100:.4g}'))} %"


def sure(confidence: float) -> str:
    """How sure a fault is: `99 % sure`."""
    return f"{100 * confidence:.0f} % sure"


def alike(sentence: str) -> str:
    """The numbers of a sentence written as in tables: 5.04e+05 as 504,000, 2.2e+07 as 2.2e7, 95% as 95 %."""
    return _PERCENT.sub(r"\1 %", _EXPONENT.sub(_in_full, sentence))


def _in_full(found: re.Match[str]) -> str:
    digits, sign, exponent = found.groups()
    if not sign and int(exponent) <= _IN_FULL:
        return f"{float(f'{digits}e{exponent}'):,.0f}"
    return f"{digits}e{sign or ''}{exponent}"


def duration(seconds: float | None) -> str:
    """A time span in the two units that matter: 85 ms, 4.2 s, 3 min 12 s, 2 h 05 min, 1 d 3 h."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.0095 else f"{seconds * 1000:.2g} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def rough_duration(seconds: float) -> str:
    """An estimate: `85 s`, `13 min`, `1.7 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def moment(seconds: float | None) -> str:
    """A point in time on the local clock, to the minute."""
    if not seconds:
        return UNKNOWN
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def shape(dimensions: Sequence[int]) -> str:
    """Sizes of a tensor: 64×3×32×32; `scalar` for none."""
    return "×".join(str(size) for size in dimensions) if dimensions else "scalar"


def mean_words(values: Sequence[float | None]) -> str:
    """Mean and standard deviation of the trainings that ended well."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return _with_spread(known) if known else "(fails)"


def failed_words(values: Sequence[float | None]) -> str:
    """How many trainings did not end well; empty when all did."""
    failed = sum(value is None or not math.isfinite(value) for value in values)
    return f"{failed} of {len(values)} fail" if failed else ""


def _with_spread(values: Sequence[float]) -> str:
    """With as many digits as the deviation leaves a meaning."""
    from statistics import fmean, stdev  # takes long to load; a run that only shows its status needs it not

    mean, spread = fmean(values), stdev(values) if len(values) > 1 else 0.0
    if spread == 0:
        return measure(mean)
    if not 1e-3 <= abs(mean) < 1e6:
        return f"{measure(mean)} ± {measure(spread)}"
    power = math.floor(math.log10(spread))
    digits = max(0, (0 if spread >= 3 * 10**power else 1) - power)  # 0.03, 0.012
    most = max(0, 3 - math.floor(math.log10(abs(mean))))  # of the mean, four digits say enough
    if digits > most:
        return f"{mean:,.{most}f} ± {setting(float(f'{spread:.1g}'))}"
    return f"{mean:,.{digits}f} ± {spread:,.{digits}f}"


def _short_exponent(text: str) -> str:
    """`1.20e-05` → `1.20e-5`, `1.5e+07` → `1.5e7`."""
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}"
