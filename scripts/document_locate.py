"""Write docs/locate-study.md from the result files of `netmend bench locate` and its companions.

python scripts/document_locate.py            # write the page
python scripts/document_locate.py --check    # only say whether it is up to date
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

from study_page import ROOT, result, templates, write_or_check

from bench.locate.groups import KNOWN, UNNAMED, UNSEEN

PAGE = ROOT / "docs" / "locate-study.md"
LABELS = ROOT / "benchmarks" / "locate" / "labels_triggered.csv"
OURS = "netmend"
GROUPS = (
    ("projects", KNOWN + UNNAMED, "of the 43 projects, that name no fixed file"),
    ("projects", UNSEEN + UNNAMED, "of the further projects, that name none"),
    ("what the text gives away", "names none", "of all, that name none"),
    ("what the text gives away", "names a fixed file", "that name one"),
    ("what the text gives away", "links a commit or pull request", "that link a commit or pull request"),
    ("candidates", "under 400", "in fewer than 400 candidates"),
    ("candidates", "400 and more", "in 400 candidates or more"),
    ("candidates", "600 and more", "in 600 candidates or more"),
)  # kind of group, group, words on the page


def page() -> str:
    files, kinds = result("locate-denchmark.json"), result("locate-kinds.json")
    return templates().get_template("locate-study.md.j2").render(
        files=files,
        known=files["figures"]["projects"][KNOWN][OURS],
        known_methods=_methods(files["figures"]["projects"][KNOWN]),
        further=files["figures"]["projects"][UNSEEN][OURS],
        further_methods=_methods(files["figures"]["projects"][UNSEEN]),
        groups=_groups(files),
        categories=[_group_row(name, row) for name, row in sorted(files["figures"]["category"].items())],
        types=_labelled(files, "type"),
        causes=_labelled(files, "extrinsic"),
        chosen=files["chosen"]["decided in view of all projects"],
        gain=min((one for name, one in files["MAP gained"].items() if not name.startswith(OURS)), key=lambda one: one["mean"]),
        verdict=_verdict(files),
        kinds=kinds,
        functions=result("locate-functions.json")["test"],
        speed=result("locate-speed.json"),
    )  # fmt: skip


def _verdict(files: dict[str, Any]) -> str:
    """Which of the figures asked for on the 43 projects are reached."""
    known = files["figures"]["projects"]
    others = {name: one["ap"]["mean"] for name, one in known[KNOWN].items() if not name.startswith(OURS)}
    figures = {
        "MAP": (known[KNOWN][OURS]["ap"]["mean"], 0.66),
        "MRR": (known[KNOWN][OURS]["rr"]["mean"], 0.75),
        "Top@1": (known[KNOWN][OURS]["top1"]["mean"], 0.64),
        "Top@10": (known[KNOWN][OURS]["top10"]["mean"], 0.94),
        "MAP where no fixed file is named": (known[KNOWN + UNNAMED][OURS]["ap"]["mean"], 0.58),
        "MAP among 600 candidates or more": (files["figures"]["candidates"]["600 and more"][OURS]["ap"]["mean"], 0.50),
        "MAP ahead of the best other": (known[KNOWN][OURS]["ap"]["mean"] - max(others.values()), 0.08),
    }  # fmt: skip
    reached = [f"{name} {_figure(value)}" for name, (value, asked) in figures.items() if value >= asked]
    missed = [
        f"{name} {_figure(value)} (asked {_figure(asked)})"
        for name, (value, asked) in figures.items()
        if value < asked
    ]
    return f"Reached: {', '.join(reached)}. Missed: {', '.join(missed) or 'none'}."


def _methods(rows: dict[str, Any]) -> list[list[str]]:
    return [
        [
            f"**{name}**" if name == OURS else name,
            *(_figure(row[one]["mean"]) for one in ("top1", "top5", "top10", "rr")),
            f"{_figure(row['ap']['mean'])} ({_figure(row['ap']['low'])}–{_figure(row['ap']['high'])})",
        ]
        for name, row in sorted(rows.items(), key=lambda item: -item[1]["ap"]["mean"])
    ]


def _groups(files: dict[str, Any]) -> list[list[str]]:
    return [_group_row(words, files["figures"][kind][group]) for kind, group, words in GROUPS]


def _group_row(words: str, row: dict[str, Any]) -> list[str]:
    others = {name: one["ap"]["mean"] for name, one in row.items() if not name.startswith(OURS)}
    best = max(others, key=lambda name: others[name])
    ours = row[OURS]
    return [
        words,
        str(ours["reports"]),
        _figure(ours["ap"]["mean"]),
        _figure(ours["top10"]["mean"]),
        f"{_figure(others[best])} {best}",
    ]


def _labelled(files: dict[str, Any], task: str) -> list[list[str]]:
    """Mean average precision by label, over every labelled report that was ranked, of netmend and the best other."""
    members: dict[str, list[str]] = {}
    with LABELS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["id"] in files["ranks"][OURS]:
                members.setdefault(row[task], []).append(row["id"])
    found = []
    for label, names in sorted(members.items()):
        means = {
            method: sum(_precision(ranks[name]) for name in names) / len(names)
            for method, ranks in files["ranks"].items()
        }
        best = max((one for one in means if not one.startswith(OURS)), key=lambda one: means[one])
        words = {"0": "inside", "1": "outside (extrinsic)"}.get(label, label)
        found.append([words, str(len(names)), _figure(means[OURS]), f"{_figure(means[best])} {best}"])
    return found


def _precision(entry: Iterable[int]) -> float:
    """Average precision from an entry of the result file: candidates, fixed files, and the ranks of those found."""
    _, fixed, *ranks = entry
    return sum(number / rank for number, rank in enumerate(sorted(ranks), start=1)) / fixed


def _figure(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    write_or_check(__doc__, PAGE, page)
