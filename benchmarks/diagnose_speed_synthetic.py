"""How long does judging a long run of a deep network take? The synthetic trace of tests/report/sample.py, more than a recorder keeps.

    python benchmarks/diagnose_speed_synthetic.py        # writes benchmarks/results/diagnose-speed.json

The best of three, on one core; `diagnose_speed.py` does the same with a run that was really recorded.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.machine import machine, today  # noqa: E402
from netmend.localise import diagnose  # noqa: E402
from netmend.report.run.page import run_page  # noqa: E402
from tests.report.sample import large  # noqa: E402

LAYERS, STEPS, TIMES = 100, 10_000, 3


def main() -> None:
    trace = large(LAYERS, STEPS)
    judging, judged = _timed(lambda: diagnose(trace))
    drawing, page = _timed(lambda: run_page(trace, diagnosis=judged))
    data = {
        "date": today(),
        "machine": machine(1),
        "load": round(os.getloadavg()[0], 1),  # others on the machine make it slower
        "what": "the synthetic one of `tests/report/sample.py`",
        "steps": STEPS,
        "layers": LAYERS,
        "tables": len(trace.tables),
        "rows": sum(map(len, trace.tables.values())),
        "diagnose": round(judging, 2),
        "page": round(drawing, 2),
        "page_mb": round(len(page.encode()) / 1e6, 1),
    }
    file = ROOT / "benchmarks" / "results" / "diagnose-speed.json"
    file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(data, indent=1))


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    best, made = float("inf"), None
    for _ in range(TIMES):
        begun = time.perf_counter()
        made = work()
        best = min(best, time.perf_counter() - begun)
    return best, made


if __name__ == "__main__":
    main()
