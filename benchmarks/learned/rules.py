"""How well do the rules name single faults that were seeded into healthy programs? Judges the recorded mutants, one table per question.

python benchmarks/learned/rules.py                      # both halves of the calibration programs
python benchmarks/learned/rules.py --half even --cases  # every miss of the half that may be looked at
python benchmarks/learned/rules.py --pairs              # with two faults at once
python benchmarks/learned/rules.py --against old.json   # what changed since `--json old.json` was written

Rules are improved on programs of the even half; the odd half stays unseen and says whether an improvement is general. Only mutants
that did harm count as faulty; a mutant that did none counts like a healthy program, except that naming what was seeded is right.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from verdicts import HALVES, Verdict, frozen, verdicts


def summary(found: Sequence[Verdict], title: str) -> dict[str, float]:
    faulty = [each for each in found if each.seeded and each.harmed]
    originals = [each for each in found if not each.seeded]
    unharmed = [each for each in found if each.seeded and not each.harmed]
    other = [each for each in unharmed if each.told and not each.among]
    total = max(1, len(faulty))
    told = sum(len(each.told) for each in faulty)
    figures = {
        "harmed": len(faulty),
        "detected": sum(bool(each.told) for each in faulty) / total,
        "rank1": sum(each.first for each in faulty) / total,
        "among": sum(each.among for each in faulty) / total,
        "line": sum(each.line for each in faulty) / total,
        "told_per_run": told / total,
        "told_right": sum(each.right(code) for each in faulty for code in each.told) / max(1, told),
        "originals": len(originals),
        "alarms": sum(bool(each.told) for each in originals) / max(1, len(originals)),
        "unharmed": len(unharmed),
        "other_told": len(other) / max(1, len(unharmed)),
    }
    print(
        f"{title:6} harmed {len(faulty):4}: detected {figures['detected']:6.1%}, cause at rank 1 {figures['rank1']:6.1%}, "
        f"among those told {figures['among']:6.1%}, line {figures['line']:6.1%}, told per run {figures['told_per_run']:.2f} "
        f"({figures['told_right']:.0%} right)"
    )
    print(
        f"{'':6} false alarms: originals {sum(bool(each.told) for each in originals)} of {len(originals)}, "
        f"another fault told of a harmless mutant {len(other)} of {len(unharmed)}"
    )
    return figures


def table(found: Sequence[Verdict], title: str, key: Callable[[Verdict], str]) -> None:
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for each in found:
        if each.harmed and each.seeded:
            groups[key(each)].append(each)
    print(f"\n{title:24}  runs  detected  rank 1  among  line   told first instead")
    for name, group in sorted(groups.items(), key=lambda item: sum(e.first for e in item[1]) - len(item[1])):
        wrong = Counter(each.told[0] if each.told else "-" for each in group if not each.first)
        print(
            f"{name:24} {len(group):5} {sum(bool(e.told) for e in group):9} {sum(e.first for e in group):7} "
            f"{sum(e.among for e in group):6} {sum(e.line for e in group):5}   "
            + ", ".join(f"{code} {number}" for code, number in wrong.most_common(6))
        )


def alarms(found: Sequence[Verdict]) -> None:
    counts = Counter(each.told[0] for each in found if each.told and not each.seeded)
    others = Counter(e.told[0] for e in found if e.told and e.seeded and not e.harmed and not e.among)
    print(f"\ntold of originals: {dict(counts)}\ntold of harmless mutants, but not seeded: {dict(others)}")


def cases(found: Sequence[Verdict], match: str) -> None:
    """Every run that is told wrongly, for reading."""
    for each in sorted(found, key=lambda e: (e.seeded, e.program)):
        wrong = (not each.first) if each.seeded and each.harmed else bool(each.told) and not each.among
        if wrong and any(match in text for text in (*each.seeded, *each.operators, *each.told, each.program)):
            print(
                f"\n{each.program} [{' + '.join(each.seeded)}] {each.title}{'' if each.harmed else ' (harmless)'}\n"
                f"  {each.run}\n  told {list(zip(each.told, each.confidences, strict=True))}\n"
                f"  suspects {list(each.suspects)}\n  symptoms {' '.join(each.symptoms)} {' '.join(each.failures)}"
            )


def against(found: Sequence[Verdict], before: list[dict], visible: str) -> None:
    """Which runs got better or worse, by cause; names only of the half that may be looked at."""
    old = {each["run"]: Verdict(**{key: frozen(value) for key, value in each.items()}) for each in before}
    for each in found:
        then = old.get(each.run)
        if then is None or then.told == each.told or each.half != visible:
            continue
        mark = "+" if _good(each) > _good(then) else "-" if _good(each) < _good(then) else " "
        seeded = "+".join(each.seeded) or "original"
        print(
            f"{mark} {each.program} [{seeded}{'' if each.harmed else ', harmless'}] {then.told} -> {each.told} {each.run}"
        )


def _good(each: Verdict) -> int:
    if each.seeded and each.harmed:
        return 2 * each.first + each.among
    return 0 if each.told and not each.among else 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", choices=("calibration", "heldout"), default="calibration")
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--pairs", action="store_true", help="also mutants with two faults")
    parser.add_argument("--run-only", action="store_true", help="without the findings of `netmend check`")
    parser.add_argument("--cases", nargs="?", const="", help="every miss of the even half [with this text]")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write every verdict to this file")
    parser.add_argument("--against", type=Path, help="a file of --json: what changed, in the even half")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = verdicts(options.set, options.pairs, options.run_only, options.jobs)
    for half in HALVES if options.half == "both" else (options.half,):
        summary([each for each in found if each.half == half], half)
    chosen = found if options.half == "both" else [each for each in found if each.half == options.half]
    if options.set == "calibration":
        table(chosen, "seeded cause", lambda each: " + ".join(each.seeded))
        table(chosen, "operator", lambda each: " + ".join(each.operators))
        alarms(chosen)
        visible = [each for each in found if each.half == "even"]
        if options.cases is not None:
            cases(visible, options.cases)
        if options.against:
            against(found, json.loads(options.against.read_text(encoding="utf-8")), "even")
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found]), encoding="utf-8")


if __name__ == "__main__":
    main()
