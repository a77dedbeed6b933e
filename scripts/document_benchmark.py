"""Write docs/benchmark.md from the result files and its template.

python scripts/document_benchmark.py                                    # write the page
python scripts/document_benchmark.py --check                            # only say whether it is up to date
python scripts/document_benchmark.py --measured diagnose-heldout.json   # note that a file was measured today, here; then write

Result files lie in benchmarks/results. A section whose file is missing is left out, with a line that says which command makes it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmark_page import advice, diagnosis, faults22, labelled, neutral, other, repair, study
from benchmark_page.results import Results, Stale
from study_page import RESULTS, ROOT, templates

PAGE = ROOT / "docs" / "benchmark.md"


def page(results: Results) -> str:
    environment = templates()
    environment.globals["missing"] = results.missing
    shown = {
        **diagnosis.sections(results),
        "advice": advice.section(results),
        **repair.sections(results),
        "faults22": faults22.section(results),
        "study": study.section(results),
        "neutral": neutral.section(results),
        **labelled.sections(results),
        **other.sections(results),
    }
    return environment.get_template("benchmark.md.j2").render(**shown)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 when the page is old"
    )
    parser.add_argument("--measured", nargs="+", metavar="FILE", default=[])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    results = Results(options.results)
    try:
        for name in options.measured:
            results.measured(name)
        text = page(results)
    except Stale as problem:
        sys.exit(str(problem))
    if not options.check:
        options.output.write_text(text, encoding="utf-8")
    elif not options.output.exists() or options.output.read_text(encoding="utf-8") != text:
        sys.exit(f"{options.output.name} is out of date; run: python scripts/document_benchmark.py")


if __name__ == "__main__":
    main()
