"""How well functions are ranked inside the files that a fix changed: Denchmark's reports, source as it was when opened.

python benchmarks/locate_functions.py --reports reports.jsonl.gz --histories FOLDER [--each 10] [--json FILE]

Projects are halved by a checksum of their names: weights were chosen on `development`, `test` is for reporting. A report
counts once for each changed file that defines at least two functions and existed when the report was opened.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmend.locate.bug_report import read_report
from netmend.locate.functions import FileText, Weights, rank_functions
from netmend.locate.parsing import Definition, parse
from netmend.locate.query import make_query

NOTHING = 1_000_000
ONLY_WORDS = Weights(frame=0.0, line=0.0, name=0.0, owner=0.0, message=0.0)


@dataclass(frozen=True)
class Case:
    """One changed file of one report: its functions, and which of them the fix changed."""

    project: str
    report: dict[str, Any]
    file: FileText
    gold: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reports", type=Path, required=True)
    parser.add_argument("--histories", type=Path, required=True)
    parser.add_argument("--each", type=int, default=10, help="reports of one project, spread over its time")
    parser.add_argument("--part", choices=("development", "test", "both"), default="both")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    began = time.process_time()
    cases = list(read_cases(args.reports, args.histories, args.each, args.part))
    result = {}
    for part in ("development", "test"):
        own = [case for case in cases if part_of(case.project) == part]
        if own:
            result[part] = {
                "reports": len({case.report["id"] for case in own}),
                "files": len(own),
                "projects": len({case.project for case in own}),
                "functions_per_file": round(
                    sum(len(functions(case.file.definitions)) for case in own) / len(own), 1
                ),
                "all_evidence": figures(own, None),
                "words_only": figures(own, ONLY_WORDS),
                "by_chance": chance(own),
            }
    result["cpu_seconds"] = round(time.process_time() - began, 1)
    text = json.dumps(result, indent=2)
    print(text)
    if args.json:
        args.json.write_text(text + "\n", encoding="utf-8")


def part_of(project: str) -> str:
    return "test" if zlib.crc32(project.lower().encode()) % 2 else "development"


def functions(definitions: Iterable[Definition]) -> list[Definition]:
    return [one for one in definitions if one.kind != "class"]


def read_cases(reports: Path, histories: Path, each: int, part: str) -> Iterator[Case]:
    by_project: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(reports, "rt", encoding="utf-8") as lines:
        for line in lines:
            report = json.loads(line)
            if report["buggy_files"] and report.get("fix_parent") and report.get("snapshot_at_open"):
                by_project[report["project"]].append(report)
    folders = {folder.name.lower(): folder for folder in histories.iterdir() if folder.is_dir()}
    for project, own in sorted(by_project.items()):
        folder = folders.get(project.lower())
        if folder is None or part not in ("both", part_of(project)):
            continue
        chosen = own[:: max(1, len(own) // each)][:each]
        for report in chosen:
            yield from cases_of(project, git_directory(folder), report)


def git_directory(folder: Path) -> Path:
    for place in (folder, *folder.iterdir()):
        for candidate in (place / ".git", place):
            if (candidate / "HEAD").is_file():
                return candidate
    return folder


def cases_of(project: str, folder: Path, report: dict[str, Any]) -> Iterator[Case]:
    for change in report["py_changes"]:
        if change["test"] or change["path"] not in report["buggy_files"]:
            continue
        before = content(folder, report["fix_parent"], change["path"])
        opened = content(folder, report["snapshot_at_open"], change["path"])
        if before is None or opened is None:
            continue
        gold = changed_functions(change["hunks"], definitions_of(before))
        file = FileText(change["path"], opened.decode("utf-8", "replace"), definitions_of(opened))
        there = {one.name for one in functions(file.definitions)}
        if gold & there and len(there) >= 2:
            yield Case(project, report, file, frozenset(gold & there))


def definitions_of(content: bytes) -> tuple[Definition, ...]:
    return parse(content).definitions


def content(folder: Path, revision: str, path: str) -> bytes | None:
    command = ["git", f"--git-dir={folder}", "cat-file", "blob", f"{revision}:{path}"]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def changed_functions(hunks: Sequence[dict[str, Any]], definitions: Sequence[Definition]) -> set[str]:
    """Names of the functions a fix changed: where lines went, else (only lines added) the function that was named."""
    gold: set[str] = set()
    for hunk in hunks:
        for line in hunk["deleted"]:
            holding = [one for one in functions(definitions) if one.line <= line <= one.end]
            if holding:
                gold.add(max(holding, key=lambda one: one.line).name)
        if not hunk["deleted"] and hunk.get("method"):
            method = str(hunk["method"]).rpartition("::")[2].rpartition(".")[2]
            named = [one for one in functions(definitions) if one.name.rpartition(".")[2] == method]
            if named:
                gold.add(min(named, key=lambda one: abs(one.line - int(hunk["start"]))).name)
    return gold


def figures(cases: Sequence[Case], weights: Weights | None) -> dict[str, float]:
    ranks = []
    for case in cases:
        query = make_query(read_report(case.report["description"] or "-", case.report["title"]))
        found = rank_functions(query, [case.file], NOTHING, weights)[case.file.path]
        places = [number for number, one in enumerate(found, 1) if one.name in case.gold]
        ranks.append(places[0] if places else NOTHING)
    return summary(ranks)


def summary(ranks: Sequence[int]) -> dict[str, float]:
    shares = {f"top{k}": round(sum(rank <= k for rank in ranks) / len(ranks), 3) for k in (1, 3, 5)}
    return {**shares, "mrr": round(sum(1 / rank for rank in ranks) / len(ranks), 3)}


def chance(cases: Sequence[Case]) -> dict[str, float]:
    """What an order at random would reach on average."""
    result: dict[str, float] = {}
    for k in (1, 3, 5):
        missed = 0.0
        for case in cases:
            total, right = len(functions(case.file.definitions)), len(case.gold)
            none = 1.0
            for drawn in range(min(k, total)):
                none *= max(0, total - right - drawn) / (total - drawn)
            missed += none
        result[f"top{k}"] = round(1 - missed / len(cases), 3)
    return result


if __name__ == "__main__":
    main()
