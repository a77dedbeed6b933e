"""How long does the diagnosis of a long run of a deep network take, and how large is its page?

    python benchmarks/diagnose_speed.py [--steps 10000] [--layers 100]

Trains a residual network of that depth for that many steps under `netmend run`, then times reading the trace, judging it and writing the page, in a fresh
process, and compares with the time that merely reading the same trace takes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

PROGRAM = """
    import sys, torch
    from torch import nn
    steps, layers = int(sys.argv[1]), int(sys.argv[2])
    torch.manual_seed(0)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.linear = nn.LayerNorm(16), nn.Linear(16, 16)

        def forward(self, x):
            return x + 0.1 * torch.relu(self.linear(self.norm(x)))

    model = nn.Sequential(*[Block() for _ in range(layers)], nn.Linear(16, 4))
    x = torch.randn(512, 16)
    y = (x[:, :4].argmax(1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        index = torch.randint(0, 512, (16,))
        optimizer.zero_grad()
        loss = criterion(model(x[index]), y[index])
        loss.backward()
        optimizer.step()
"""
TIMING = """
    import json, sys, time
    from netmend.report.run.page import run_page
    from netmend.localise import diagnose
    from netmend.store import read_trace
    begun = time.perf_counter(); trace = read_trace(sys.argv[1]); read = time.perf_counter() - begun
    begun = time.perf_counter(); judged = diagnose(trace); judging = time.perf_counter() - begun
    begun = time.perf_counter(); page = run_page(trace, diagnosis=judged); drawing = time.perf_counter() - begun
    print(json.dumps({"steps": trace.run.steps, "tables": len(trace.tables), "rows": sum(map(len, trace.tables.values())),
        "read": read, "diagnose": judging, "page": drawing, "page_mb": len(page.encode()) / 1e6, "verdict": judged.verdict,
        "faults": [fault.cause for fault in judged.faults]}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--layers", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "deep.py"
        script.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
        command = [sys.executable, "-m", "netmend", "run", "-q", "--directory", folder, str(script)]
        subprocess.run([*command, str(options.steps), str(options.layers)], check=True)
        run = next(Path(folder, "runs").iterdir())
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(TIMING), str(run)],
            check=True,
            capture_output=True,
            text=True,
        )
    found = json.loads(ended.stdout)
    print(f"{found['steps']} steps, {options.layers} layers: {found['tables']} tables, {found['rows']} rows")
    print(
        f"read {found['read']:.2f} s, diagnose {found['diagnose']:.2f} s ({found['diagnose'] / found['read']:.1f} times reading)"
    )
    print(f"page {found['page_mb']:.2f} MB in {found['page']:.2f} s; {found['verdict']} {found['faults']}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
