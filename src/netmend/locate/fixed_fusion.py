"""A weighted sum of signals: the ranking that needs no trained model, and that spreading signals start from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netmend.locate.postings import Floats

# Round numbers, set by hand and not fitted: those of a first study, and for signals it did not have (functions, similar
# commits, quoted lines of code) what signals of the same kind were given; some were raised after a look at how well single
# signals do on 129 reports. Each signal is divided by its largest value.
WEIGHTS: Mapping[str, float] = {
    "body_all_raw": 0.5,
    "body_all": 0.5,
    "passage_all_top3": 0.5,
    "path_all": 0.6,
    "classes_all": 0.25,
    "functions_all": 0.25,
    "comments_all": 0.3,
    "subjects_all": 0.2,
    "similar_commits_all": 0.4,
    "referenced": 0.6,
    "names_all": 0.5,
    "class_names_all": 0.5,
    "trace": 1.0,
    "path_mention": 1.2,
    "module_mention": 0.5,
    "message": 0.4,
    "quoted_text": 0.3,
    "quoted_code": 0.5,
    "similar_reports": 0.3,
    "changed_30": 0.3,
    "executed": 0.5,
}
PENALTIES: Mapping[str, float] = {"peripheral": -0.4, "package_file": -0.2}


def fixed_scores(scores: Mapping[str, Floats], size: int) -> Floats:
    """The sum for each file."""
    total = np.zeros(size)
    for name, weight in WEIGHTS.items():
        values = scores[name]
        top = float(values.max(initial=0.0))
        if top > 0:
            total += weight * values / top
    for name, weight in PENALTIES.items():
        total += weight * scores[name]
    return total
