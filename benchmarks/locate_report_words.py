"""Count in how many bug reports each word occurs: words of templates and of every report say little about one.

    python benchmarks/locate_report_words.py --reports reports.jsonl.gz

Only reports of projects that the collection names no commits for are counted, so the figures of the 43 others stay free of it. The file
holds words and numbers, no text of a report.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from bench.locate.denchmark import read_reports, usable
from netmend.locate.words import REPORT_WORDS, words

_LEAST = 5  # reports; rarer words are as good as unseen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reports", type=Path, required=True, help="Denchmark's reports")
    parser.add_argument("--file", type=Path, default=REPORT_WORDS, help="the file to write")
    given = parser.parse_args()
    reports = read_reports(given.reports)
    searched = {report.project for report in usable(reports) if report.snapshot}
    others = [report for report in reports if report.project not in searched]
    held = Counter(term for report in others for term in set(words(f"{report.title}\n{report.description}")))
    kept = sorted((term, count) for term, count in held.items() if count >= _LEAST)
    projects = len({report.project for report in others})
    lines = [f"# {len(others)} reports of {projects} projects", *(f"{term} {count}" for term, count in kept)]
    given.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{given.file}: {len(kept)} words of {len(others)} reports of {projects} projects")


if __name__ == "__main__":
    main()
