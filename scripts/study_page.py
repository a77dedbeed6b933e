"""What the pages written from result files have in common: the templates, the files, and being up to date."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
sys.path.append(str(ROOT / "benchmarks"))  # the package `bench`


def templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(ROOT / "docs" / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # pages are text, not markup
    )


def result(name: str) -> Any:
    """What a result file holds; None where it is missing."""
    file = RESULTS / name
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def write_or_check(about: str | None, page: Path, text: Callable[[], str]) -> None:
    """The command line of a page's script: write the page, or with --check only say whether it is up to date."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 when the page is old"
    )
    if not parser.parse_args().check:
        page.write_text(text(), encoding="utf-8")
    elif not page.exists() or page.read_text(encoding="utf-8") != text():
        sys.exit(
            f"docs/{page.name} is not what the result files say: run python scripts/{Path(sys.argv[0]).name}"
        )
