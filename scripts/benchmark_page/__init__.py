"""docs/benchmark.md from the result files: one module per group of sections, each turns results into what the template shows."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))  # the package `bench`
