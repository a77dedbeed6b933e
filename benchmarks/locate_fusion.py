"""Train the fusion that `netmend locate` ships: trees over the signals of all reports that were searched.

    netmend bench locate --reports reports.jsonl.gz --histories FOLDER --json benchmarks/results/locate-denchmark.json
    python benchmarks/locate_fusion.py --reports reports.jsonl.gz

The first command searches and says how good such trees are on projects they never saw; this one trains on all projects, so it has no
figures of its own. What a tree learns from is signals only: no word of a report is in the model.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from bench.locate.denchmark import read_reports, usable
from bench.locate.exporting import export
from bench.locate.fusing import Task, choose, examples
from bench.locate.learning import CHOICES, USED, fit
from bench.locate.measuring import Desk
from bench.locate.protocol import Protocol
from netmend.locate.fusion import MODEL


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reports", type=Path, required=True, help="Denchmark's reports")
    parser.add_argument(
        "--work", type=Path, default=Path(".netmend/bench"), help="where `netmend bench locate` worked"
    )
    parser.add_argument("--model", type=Path, default=MODEL, help="the file to write")
    given = parser.parse_args()
    desk = Desk(given.work / "locate", Protocol())
    reports = {report.id: report for report in usable(read_reports(given.reports))}
    sheets = {name: sheet for name, report in reports.items() if (sheet := desk.read(report)) is not None}
    if not sheets:
        raise SystemExit(f"nothing was searched yet in {desk.work}: run `netmend bench locate` first")
    task = Task(reports, sheets, desk.protocol)
    everything = examples(task)
    settings = choose(task, everything, CHOICES)
    projects = Counter(example.project for example in everything)
    about = {
        "trained on": f"{len(everything)} reports of {len(projects)} projects of Denchmark, the code as it was when each was opened",
        "projects": sorted(projects),
        "settings": str(settings),
    }
    export(fit(everything, settings), USED, given.model, about)
    print(f"{given.model}: {settings}, {given.model.stat().st_size / 1000:.0f} kB, {len(everything)} reports")


if __name__ == "__main__":
    main()
