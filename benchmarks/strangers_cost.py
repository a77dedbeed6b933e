"""What watching costs public scripts that run to their end: CPU seconds of bare python and of `netmend run -q`, interleaved, by the kernel's account.

    python benchmarks/strangers_cost.py FOLDER [--match simple_pg] [--repeats 3] [--json benchmarks/results/strangers-cost.json]

See strangers.py for FOLDER. The scripts stand in strangers/cost.txt. The whole command is counted, netmend's start and the writing of its trace included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from strangers import HERE, Setting, scripts, setting

VARIANTS = {"bare": (), "run -q": ("-m", "netmend", "run", "-q")}


def cpu_seconds(start: Setting, words: tuple[str, ...]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *words, *start.words],
        cwd=start.where,
        env=start.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the repositories, each as <owner>+<name>")
    parser.add_argument("--match", default="", help="only scripts whose name holds this text")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = {}
    for script in scripts(HERE / "strangers/cost.txt", options.match):
        start = setting(script, options.folder.resolve())
        if start is None:
            print(f"absent  {script.name}")
            continue
        seconds: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        for _ in range(options.repeats):
            for variant, words in VARIANTS.items():
                seconds[variant].append(cpu_seconds(start, words))
        middle = {variant: median(values) for variant, values in seconds.items()}
        ratio = middle["run -q"] / middle["bare"]
        rows[script.name] = {**middle, "ratio": ratio}
        print(
            f"{ratio:6.3f}x  {middle['bare']:6.1f} s → {middle['run -q']:6.1f} s  {script.name}", flush=True
        )
    if options.json:
        text = json.dumps({"repeats": options.repeats, "scripts": rows}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
