"""Preparation in programs that strangers wrote: what `netmend run` and `netmend check` say of each, beside our judgements.

python benchmarks/foreign_preparation.py --programs FOLDER                    # all that the list names
python benchmarks/foreign_preparation.py --programs FOLDER --match titanic    # some, with every word that was said

Nothing of them is kept here. FOLDER holds one folder a program: the program as published (with a few patches where the list counts some: paths, devices, packages and calls that are gone, fewer epochs) and a
make_data.py of ours, which makes data that fit what it reads. foreign_preparation.json lists the sources and our judgements: which fault was told, at which line, right, wrong or unclear,
and why in one sentence. A program that takes longer than --seconds is interrupted as a terminal would. --old: a Python with pandas 2.2 and NumPy 1.26, for programs that need them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_suffix(".json")
PATIENCE = 60.0  # seconds for the verdict after Ctrl-C
RIGHT, WRONG, UNCLEAR, OPEN = "right", "wrong", "unclear", "open"


@dataclass(frozen=True)
class Told:
    code: str
    file: str
    line: int
    by: str  # "run" | "check"
    words: str = ""
    leaf: str = ""  # of a finding; the code of a fault is one

    @property
    def place(self) -> str:
        return f"{self.by} {self.code} {self.file}:{self.line}"


@dataclass
class Heard:
    """What was said of one program."""

    name: str
    end: str  # "finished" | "interrupted" | "failed" | "killed" | "no data"
    steps: int = 0
    told: list[Told] = field(default_factory=list)
    trouble: str = ""  # the last words of a program that failed, or of netmend where it is in the way


def hear(source: dict[str, Any], folder: Path, python: str, seconds: float) -> Heard:
    name = source["program"]
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / name
        shutil.copytree(folder / name, home)
        environment = os.environ | {
            "OMP_NUM_THREADS": "1",
            "NETMEND_LIVE": "0",
            "MPLBACKEND": "Agg",
            "PYTHONPATH": os.pathsep.join([str(folder / ".standins"), "."]),
            "COLUMNS": "100",
        }
        made = subprocess.run(
            [python, "make_data.py"], cwd=home, env=environment, capture_output=True, text=True
        )
        if made.returncode:
            return Heard(name, "no data", trouble=made.stderr.strip()[-300:])
        script = home / source["script"]
        answer, log = home / "diagnosis.json", home / "log.txt"
        command = [python, "-m", "netmend", "run", "--quiet", "--json", str(answer), script.name]
        end = _interruptible(
            [*command, *source.get("arguments", ())], script.parent, environment, log, seconds
        )
        said = log.read_text(encoding="utf-8", errors="replace")
        heard = Heard(name, end)
        if answer.exists():
            data = json.loads(answer.read_text(encoding="utf-8"))
            if end == "finished" and data["run"].get("status") == "failed":
                heard.end = "failed"
            heard.steps = data["run"].get("steps", 0)
            heard.told += [
                Told(fault["code"], *_place(fault), by="run", words=_words(fault)) for fault in data["faults"]
            ]
        if heard.end == "failed" or "netmend:" in said:
            ours = [line for line in said.splitlines() if "/netmend/" in line or line.startswith("netmend:")]
            heard.trouble = (" | ".join(ours[-2:]) or said.strip()[-200:])[:400]
        heard.told += _findings(python, script.parent, environment)
    return heard


def _interruptible(
    command: list[str], where: Path, environment: dict[str, str], log: Path, seconds: float
) -> str:
    with log.open("wb") as stream:
        child = subprocess.Popen(
            command, cwd=where, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
            start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        try:
            return "finished" if child.wait(seconds) in (0, 1) else "failed"
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGINT)
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return "killed"
    return "interrupted"


def _place(fault: dict[str, Any]) -> tuple[str, int]:
    site = fault.get("site") or {}
    return Path(site.get("file", "")).name, site.get("line", 0)


def _words(fault: dict[str, Any]) -> str:
    return f"{fault['confidence']:.2f} {fault['summary']} {fault['reason']}"


def _findings(python: str, where: Path, environment: dict[str, str]) -> list[Told]:
    command = [python, "-m", "netmend", "check", "--no-cache", "--format", "json", "."]
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    found = json.loads(done.stdout).get("findings", ()) if done.stdout.strip().startswith("{") else ()
    return [
        Told(one["code"], Path(one["file"]).name, one["line"], "check", one["message"], one["cause"])
        for one in found
    ]


def judgement(told: Told, source: dict[str, Any]) -> tuple[str, str]:
    """What we think of a told fault; lines may move by a patch, so that near ones count."""
    for known in source.get("judged", ()):
        if (
            known["code"] in (told.code, told.leaf)
            and known["file"] == told.file
            and abs(known["line"] - told.line) <= 1
        ):
            return known["verdict"], known["why"]
    return OPEN, told.words


def tell(heard: list[Heard], sources: dict[str, dict[str, Any]], verbose: bool) -> dict[str, int]:
    counts = {"programs": 0, "trained": 0, "told": 0, RIGHT: 0, WRONG: 0, UNCLEAR: 0, OPEN: 0}
    alarms = {"run": set[str](), "check": set[str]()}
    for one in heard:
        counts["programs"] += 1
        counts["trained"] += one.steps > 0
        for told in one.told:
            verdict, why = judgement(told, sources[one.name])
            counts["told"] += 1
            counts[verdict] += 1
            if verdict == WRONG:
                alarms[told.by].add(one.name)
            print(f"{verdict:8} {one.name} {told.place}: {why if verbose or verdict != RIGHT else ''}"[:700])
        if one.trouble:
            print(f"{one.end:8} {one.name}: {one.trouble}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    for by, names in alarms.items():
        counts[f"programs with a false alarm of {by}"] = len(names)
        print(f"programs with a false alarm of {by}: {len(names)} of {counts['programs']} {sorted(names)}")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=Path, required=True, help="the folder that holds the programs")
    parser.add_argument("--match", default="", help="only names that hold one of these, parted by commas")
    parser.add_argument("--old", default=sys.executable, help="a Python with pandas 2.2 and NumPy 1.26")
    parser.add_argument("--seconds", type=float, default=60.0, help="before a program is interrupted")
    parser.add_argument(
        "--heard", type=Path, help="keep what was said in this file; what is there is not run again"
    )
    parser.add_argument("--again", action="store_true", help="run again what --heard holds")
    parser.add_argument("--json", type=Path, help="write the figures, without what was said")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    sources = {one["program"]: one for one in json.loads(LIST.read_text(encoding="utf-8"))["programs"]}
    kept = json.loads(args.heard.read_text(encoding="utf-8")) if args.heard and args.heard.exists() else {}
    heard = []
    for name, source in sources.items():
        if not any(part in name for part in args.match.split(",")):
            continue
        if name in kept and not args.again:
            old = kept[name]
            heard.append(Heard(**{**old, "told": [Told(**told) for told in old["told"]]}))
            continue
        python = args.old if source["libraries"] == "pandas 2.2" else sys.executable
        one = hear(source, args.programs.resolve(), python, args.seconds)
        heard.append(one)
        kept[name] = asdict(one)
        print(f"… {one.end} {one.steps} steps {name}: {[told.place for told in one.told]}", file=sys.stderr)
        if args.heard:
            args.heard.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    counts = tell(heard, sources, args.verbose)
    if args.json:
        rows = [
            {"program": one.name, "end": one.end, "steps": one.steps}
            | {"told": {told.place: judgement(told, sources[one.name])[0] for told in one.told}}
            for one in heard
        ]
        args.json.write_text(
            json.dumps({"counts": counts, "programs": rows}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
