"""How often `netmend check` speaks on code that nobody here wrote, and a sample of what it says, to be read by a person.

python benchmarks/check_precision.py                           # download, unpack, check
python benchmarks/check_precision.py --folder DIR --json FILE  # packages that are unpacked already
python benchmarks/check_precision.py --sample 60 --seed 1      # draw findings for reading
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import check_sources
from check_sources import Source, sources, text_of

CONTEXT = 8  # lines shown above and below a finding
SLOW = 5.0  # seconds for one file, worth telling


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="a folder with one folder per unpacked package")
    parser.add_argument(
        "--select", default="", help="codes or prefixes, comma-separated; default: all default rules"
    )
    parser.add_argument("--json", type=Path, help="write counts and all findings")
    parser.add_argument("--sample", type=int, default=0, help="print that many findings, drawn uniformly")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--package", default="", help="only packages whose name matches this pattern")
    parser.add_argument(
        "--files", type=int, default=0, help="only that many files, drawn uniformly with --seed"
    )
    parser.add_argument("--tests", action="store_true", help="count unit tests too")
    args = parser.parse_args()
    folder = args.folder
    if folder is None:
        check_sources.download()
        folder = check_sources.UNPACKED
    work = [source for source in sources(folder, args.tests) if re.search(args.package, source.package)]
    if args.files:
        work = random.Random(args.seed).sample(work, min(args.files, len(work)))
        work.sort(key=lambda source: source.file)  # neighbours import the same files
    result = measure(work, args.jobs, tuple(filter(None, args.select.split(","))))
    report(result)
    if args.json:
        args.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if args.sample:
        show_sample(result["list"], folder, args.sample, args.seed)


def measure(work: list[Source], jobs: int, select: tuple[str, ...]) -> dict[str, Any]:
    begun = time.monotonic()
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    problems, failures, slow = Counter[str](), Counter[str](), []
    with multiprocessing.Pool(jobs, _prepare, (select,)) as pool:
        for done, (source, answer) in enumerate(pool.imap_unordered(_check, work, chunksize=16), 1):
            if answer["problem"]:
                problems[source.package] += 1
            failures.update(answer["failures"])
            if answer["seconds"] > SLOW:
                slow.append(
                    {"file": f"{source.package}/{source.path}", "seconds": round(answer["seconds"], 1)}
                )
            for finding in answer["findings"]:  # a followed file tells the same again: one finding
                found[finding["package"], finding["path"], finding["line"], finding["code"]] = finding
            if done % 200 == 0 or done == len(work):
                sys.stderr.write(f"\r{done} of {len(work)} files, {len(found)} findings   ")
    sys.stderr.write("\n")
    findings = [found[key] for key in sorted(found)]
    files = Counter(source.package for source in work)
    per_package = Counter(finding["package"] for finding in findings)
    return {
        "files": len(work),
        "packages": len(files),
        "findings": len(findings),
        "per_50_files": round(50 * len(findings) / max(len(work), 1), 3),
        "per_rule": dict(sorted(Counter(finding["code"] for finding in findings).items())),
        "per_package": {
            name: {"files": files[name], "findings": per_package[name]} for name in sorted(files)
        },
        "not_parsed": dict(sorted(problems.items())),
        "rules_failed": dict(failures.most_common(50)),
        "slow": sorted(slow, key=lambda row: -row["seconds"])[:20],
        "seconds": round(time.monotonic() - begun, 1),
        "list": findings,
    }


_rules: tuple[Any, ...] = ()
_project: Any = None  # files that are followed are parsed once per process


def _prepare(select: tuple[str, ...]) -> None:
    global _project, _rules
    from netmend.check.rule import RULES
    from netmend.program.engine.project import Project

    _project = Project()

    if select:
        _rules = tuple(rule for rule in RULES.all() if rule.code.startswith(select))


def _check(source: Source) -> tuple[Source, dict[str, Any]]:
    from netmend.check.run import check_text

    begun = time.monotonic()
    text = text_of(source.file)
    checked = check_text(text, str(source.file), _rules, _project)
    own = text.splitlines()
    root = _package_root(source)
    findings = []
    for finding in checked.findings:
        file = Path(finding.file)
        lines = own if file == source.file else text_of(file).splitlines()
        inside = file.is_relative_to(root)
        findings.append(
            {
                "package": source.package,
                "path": file.relative_to(root).as_posix() if inside else source.path,
                "line": finding.line,
                "code": finding.code,
                "cause": finding.cause,
                "message": finding.message,
                "source": lines[finding.line - 1].strip() if finding.line <= len(lines) else "",
            }
        )
    return source, {
        "findings": findings,
        "problem": checked.problem,
        "failures": list(checked.failures),
        "seconds": time.monotonic() - begun,
    }


def _package_root(source: Source) -> Path:
    return source.file.parents[len(Path(source.path).parts) - 1]


def report(result: dict[str, Any]) -> None:
    print(f"{result['files']} files of {result['packages']} packages use torch or Keras.")
    print(f"{result['findings']} findings, {result['per_50_files']} per 50 files, {result['seconds']} s.\n")
    print("| rule | findings |\n|---|---|")
    for code, count in result["per_rule"].items():
        print(f"| {code} | {count} |")
    print("\n| package | files | findings | per 50 files |\n|---|---|---|---|")
    for name, row in result["per_package"].items():
        rate = 50 * row["findings"] / row["files"]
        print(f"| {name} | {row['files']} | {row['findings']} | {rate:.2f} |")
    if result["not_parsed"]:
        print(f"\nFiles that no parser takes: {sum(result['not_parsed'].values())} {result['not_parsed']}")
    for failure, count in result["rules_failed"].items():
        print(f"rule failed {count} times: {failure}")
    for row in result["slow"]:
        print(f"slow: {row['file']} {row['seconds']} s")


def show_sample(findings: list[dict[str, Any]], folder: Path, size: int, seed: int) -> None:
    """Every finding has the same chance, whatever its rule or package."""
    drawn = random.Random(seed).sample(findings, min(size, len(findings)))
    for number, finding in enumerate(drawn, 1):
        print(f"\n--- {number}/{len(drawn)} {finding['code']} {finding['cause']}")
        print(f"{finding['package']}/{finding['path']}:{finding['line']}\n{finding['message']}\n")
        lines = text_of(folder / finding["package"] / finding["path"]).splitlines()
        first = max(finding["line"] - CONTEXT, 1)
        for at in range(first, min(finding["line"] + CONTEXT, len(lines)) + 1):
            print(f"{'>' if at == finding['line'] else ' '} {at:5d} {lines[at - 1]}")


if __name__ == "__main__":
    main()
