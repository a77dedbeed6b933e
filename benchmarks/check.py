"""How fast `netmend check` is: cold on one core, again from its cache, its start-up, and other readers of the same files in the same run.

python benchmarks/check.py                         # the transformers package, downloaded if need be
python benchmarks/check.py --folder DIR --json FILE
python benchmarks/check.py --rivals-python rivals/bin/python    # with flake8 + TorchFix and pylint, where installed there
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import check_sources

PACKAGE = "transformers"
STARTS = 7  # start-ups measured; the median counts


@dataclass(frozen=True)
class Timed:
    """One measurement: files read, seconds on the clock, seconds of processor time."""

    what: str
    files: int
    seconds: float
    processor: float

    @property
    def pace(self) -> float:
        return self.files / self.seconds

    @property
    def per_core(self) -> float:
        """On a busy machine the clock also counts the time of others."""
        return self.files / max(self.processor, 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help=f"files to read; default: the package {PACKAGE}")
    parser.add_argument("--sample", type=int, default=150, help="files that slow tools are given")
    parser.add_argument("--rivals-python", type=Path, help="an interpreter with flake8, TorchFix, pylint")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    folder = args.folder or package_folder()
    files = sorted(folder.rglob("*.py"))
    rows = measure(folder, files, args.sample, args.rivals_python)
    start = start_up()
    show(rows, start)
    if args.json:
        facts = {"python": platform.python_version(), "processors": os.cpu_count(), "folder": folder.name}
        table = [
            asdict(row) | {"per_second": round(row.pace, 1), "per_core": round(row.per_core, 1)}
            for row in rows
        ]
        text = json.dumps({"facts": facts, "rows": table, "start_up_seconds": start}, indent=1)
        args.json.write_text(text + "\n", encoding="utf-8")


def package_folder() -> Path:
    check_sources.download(only=PACKAGE)
    folder = check_sources.UNPACKED / PACKAGE
    if not folder.exists():
        raise SystemExit(f"{PACKAGE} is not there. Pass a folder with Python files: --folder DIR")
    return folder


def measure(folder: Path, files: list[Path], sample: int, rivals: Path | None) -> list[Timed]:
    netmend = [sys.executable, "-m", "netmend", "check", "-q", "--exit-zero", "--jobs", "1"]
    rows = [command("netmend check, cold, one process", [*netmend, "--no-cache", str(folder)], len(files))]
    with tempfile.TemporaryDirectory() as cache:
        cached = [*netmend, "--cache-dir", cache, str(folder)]
        command("", cached, len(files))
        rows.append(command("netmend check, second run, from the cache", cached, len(files)))
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    rows.append(inside("ast.parse", texts, ast.parse))
    some = sorted(random.Random(0).sample(range(len(files)), min(sample, len(files))))
    if importlib.util.find_spec("libcst"):
        import libcst

        rows.append(inside("LibCST parse (sample)", [texts[at] for at in some], libcst.parse_module))
    ruff = Path(sys.executable).with_name("ruff")
    if ruff.exists():
        rows.append(
            command(
                "ruff check, its default rules",
                [str(ruff), "check", "-q", "-n", "--isolated", str(folder)],
                len(files),
            )
        )
    if rivals:
        drawn = [str(files[at]) for at in some]
        python = str(rivals.absolute())
        flake8 = [python, "-m", "flake8", "--isolated", "-j", "1"]
        rows.append(
            command("flake8 with TorchFix only (sample)", [*flake8, "--select=TOR", *drawn], len(drawn))
        )
        if subprocess.run([python, "-c", "import pylint"], capture_output=True).returncode == 0:
            few = drawn[: max(len(drawn) // 5, 1)]
            rows.append(command("pylint (sample)", [python, "-m", "pylint", "-j", "1", *few], len(few)))
    return rows


def command(what: str, words: list[str], files: int) -> Timed:
    """A tool as its users start it, on one processor where it can be told so."""
    environment = os.environ | {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if what.startswith("netmend") and done.returncode != 0:
        raise SystemExit(f"netmend check ended with {done.returncode}: {done.stderr[-800:]}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(what, files, seconds, used)


def inside(what: str, texts: list[str], parse: Callable[[str], object]) -> Timed:
    """A parser, called in this process."""
    used, begun = time.process_time(), time.perf_counter()
    for text in texts:
        try:
            parse(text)
        except Exception:  # noqa: BLE001 - a file for another version of Python; the others count
            continue
    return Timed(what, len(texts), time.perf_counter() - begun, time.process_time() - used)


def start_up() -> float:
    """Median seconds of `netmend check` on a file with one line, from nothing to the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one.py"
        file.write_text("import torch\n", encoding="utf-8")
        words = [sys.executable, "-m", "netmend", "check", "-q", "--no-cache", str(file)]
        times = sorted(command("netmend", words, 1).seconds for _ in range(STARTS))
    return round(times[STARTS // 2], 3)


def show(rows: list[Timed], start: float) -> None:
    cold = rows[0]
    print(
        "| what | files | seconds | processor seconds | files per second | files per processor second | ratio |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        numbers = (f"{row.seconds:.2f}", f"{row.processor:.2f}", f"{row.pace:.0f}", f"{row.per_core:.0f}")
        print(f"| {row.what} | {row.files} | {' | '.join(numbers)} | {row.per_core / cold.per_core:.2f}x |")
    print("\nRatio: files per processor second against netmend's cold run, above 1 is faster.")
    print(f"Start-up on a file with one line: {start:.3f} s (median of {STARTS}).")


if __name__ == "__main__":
    main()
