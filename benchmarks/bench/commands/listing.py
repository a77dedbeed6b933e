"""`netmend bench`: which benchmarks there are, what each needs and how long it takes."""

from __future__ import annotations

import sys

from rich.console import Group
from rich.text import Text

from netmend.report.content import Remark
from netmend.report.terminal import Remarks, blank, console

# Times are of two cores, without anything trained before.
BENCHMARKS = (
    (
        "faults22",
        "22 faults of a study (9 real, 13 artificial), its fault codes and scores; published tools and constant answers beside it",
        "data: netmend bench setup",
        "45 min; 17 with --no-repair, 7 with --no-repair --stability 0",
    ),
    (
        "bugs21",
        "21 training bugs of a comparison of three dynamic localisers: found, cause, line",
        "nothing but PyTorch",
        "2 min",
    ),
    (
        "silent",
        "silent bugs of the TrainCheck evaluation that fit on a CPU, and their healthy twins",
        "nothing but PyTorch",
        "2 min",
    ),
    (
        "repair",
        "the repair study: share of the known fix's gain with 10, 20 and 50 trainings",
        "data: netmend bench setup",
        "hours; half an hour with --seeds 1 --budgets 20",
    ),
    (
        "locate",
        "bug reports of 43 deep-learning projects (Denchmark): are the fixed files ranked first? Five re-implemented techniques beside it",
        "the reports and clones of the projects, which you name",
        "half an hour with --jobs 2",
    ),
)


def show_list() -> int:
    parts: list[Text | Remarks] = []
    for name, what, needs, time in BENCHMARKS:
        parts += [
            Text(f"netmend bench {name}", "bold"),
            Remarks((Remark("what", what), Remark("needs", needs), Remark("takes", time)), 2),
        ]
    end = "Trainings are kept under .netmend/bench: an interrupted benchmark continues where it stopped. Each has --help."
    console(sys.stdout).print(Group(*parts, blank(), Text(end, "dim")))
    return 0
