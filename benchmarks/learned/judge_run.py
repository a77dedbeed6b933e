"""A recorded run judged with the learned model beside the rules: the likeliest causes, with both confidences.

python benchmarks/learned/judge_run.py FOLDER       # a run, as `netmend run` leaves it below .netmend/runs
"""

from __future__ import annotations

import sys
from pathlib import Path

from ranking.weigh import weigh

from netmend.check.of_run import findings_of_run
from netmend.localise.case import Case
from netmend.localise.rank import UNMISSABLE, diagnose
from netmend.program.text.sources import Sources
from netmend.store import read_trace


def main() -> None:
    trace = read_trace(Path(sys.argv[1]))
    judged = diagnose(trace, findings=findings_of_run(trace.run))
    sources = Sources(trace.run.working_directory, trace.run.script, trace.run.arguments)
    case = Case(trace, judged.symptoms, sources, judged.findings)
    by_rules = (*judged.faults, *judged.suspects)
    weighed = weigh(case, by_rules, case.has(*UNMISSABLE))
    for fault in sorted(weighed.accused, key=lambda one: -one.confidence):
        rules = next((one.confidence for one in by_rules if one.cause == fault.cause), None)
        told = "told" if fault.confidence >= weighed.least_confidence else "kept back"
        shown = "not accused" if rules is None else f"{rules:.2f}"
        print(f"{fault.cause:<24} learned {fault.confidence:.2f} ({told}), rules {shown}  {fault.site or ''}")


if __name__ == "__main__":
    main()
