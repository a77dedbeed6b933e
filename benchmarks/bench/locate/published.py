"""What was published about deep-learning systems (Jahan, Shah, Rahman: bug localization in deep learning systems).

Other reports, other candidates, release versions instead of the code of the day. In four of the five rows the printed MRR is lower
than the printed Top@k allow on one set of reports, so the columns come from different runs: for reference, never beaten on that ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CAVEAT = (
    "published on other reports (1,795), other candidates (with tests, release versions); their MRR contradicts their "
    "Top@k in four of five rows: for reference only"
)


@dataclass(frozen=True)
class Row:
    """Top@1, Top@5, Top@10, MRR, MAP in the order of metrics.NAMES."""

    method: str
    values: tuple[float, float, float, float, float]


OVERALL = (
    Row("BugLocator", (0.344, 0.547, 0.615, 0.371, 0.314)),
    Row("BLUiR", (0.201, 0.472, 0.585, 0.316, 0.257)),
    Row("BLIA", (0.411, 0.609, 0.719, 0.423, 0.355)),
    Row("DNNLOC", (0.468, 0.682, 0.786, 0.455, 0.408)),
    Row("bjXnet", (0.500, 0.700, 0.800, 0.500, 0.440)),
)
# Best published MAP of any of the five, by group.
BEST_MAP: Mapping[str, float] = {
    "Model": 0.650,
    "Training": 0.420,
    "Tensor": 0.650,
    "API": 0.493,
    "GPU": 0.310,
    "NonDL": 0.588,
    "extrinsic": 0.334,
    "intrinsic": 0.510,
    "Framework": 0.510,
    "Library": 0.640,
    "Tool": 0.550,
}


def least_possible_mrr(row: Row) -> float:
    """No MRR on the same reports can be lower than what Top@1, 5 and 10 already give."""
    first, five, ten = row.values[:3]
    return first + (five - first) / 5 + (ten - five) / 10
