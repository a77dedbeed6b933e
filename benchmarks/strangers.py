"""What does netmend say about training scripts that none of us wrote? Runs them as a user would, interrupts them, and sets what is told beside judgements by hand.

    python benchmarks/strangers.py FOLDER                          # the first list (strangers.txt)
    python benchmarks/strangers.py FOLDER --list strangers/second.txt
    python benchmarks/strangers.py FOLDER --match nanoGPT --again  # some scripts, run anew
    python benchmarks/strangers.py FOLDER --table                  # only what was run before

Nothing is fetched: FOLDER holds the repositories as <owner>+<name>, at the commits that the list names. Data that a script would fetch is made or laid there
(strangers_data.py); torchvision and what else a script imports has to be installed. A script gets --seconds of CPU (or --wall seconds), then Ctrl-C.
Judgements lie in strangers/judged.csv: script, cause, line, true | arguable | false, reason. A told fault without one is shown as open.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from strangers_data import lay, prepare

HERE = Path(__file__).parent
JUDGED = HERE / "strangers/judged.csv"
STANDINS = HERE / "strangers/standins"
PATIENCE = 40.0  # seconds for the verdict after Ctrl-C
TRUE, ARGUABLE, FALSE, OPEN = "true", "arguable", "false", "open"


@dataclass(frozen=True)
class Script:
    """One line of a list."""

    repository: str  # "karpathy/makemore"
    commit: str
    folder: str  # where it is started, inside the repository
    command: str  # "makemore.py -i names.txt", with variables before it: "GYM_API=new a2c.py"
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        place = "" if self.folder == "." else f"{self.folder}/"
        return f"{self.repository}/{place}{self.command}"


@dataclass(frozen=True)
class Told:
    cause: str
    confidence: float
    file: str
    line: int
    summary: str
    remedy: str

    @property
    def figures(self) -> dict[str, str | float]:
        """What may be kept beside the figures: sentences can quote the script."""
        return {"cause": self.cause, "confidence": self.confidence, "file": self.file, "line": self.line}


@dataclass(frozen=True)
class Ran:
    """How one script ran, and what was said about it."""

    name: str
    end: str  # finished | failed | interrupted | killed
    steps: int
    verdict: str
    cpu_seconds: float
    told: tuple[Told, ...]
    trouble: str = ""  # a traceback of netmend's own


def scripts(file: Path, match: str) -> list[Script]:
    found, repository, commit = [], "", ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not line.startswith(" "):
            repository, commit = text.split()
            continue
        parts = [part.strip() for part in text.split("|")]
        if len(parts) < 2:
            raise SystemExit(f"{file.name}:{number}: folder | command | needs, got {text!r}")
        script = Script(
            repository, commit, *parts[:2], needs=tuple(parts[2].split()) if len(parts) > 2 else ()
        )
        if match in script.name:
            found.append(script)
    return found


@dataclass(frozen=True)
class Setting:
    """Where and how a script is started."""

    where: Path
    words: tuple[str, ...]
    environment: dict[str, str]


def setting(script: Script, folder: Path, root: Path | None = None) -> Setting | None:
    """Lays what the script needs; None where its folder is not there."""
    data, root = prepare(folder), root or folder / script.repository.replace("/", "+")
    where = root / script.folder
    if not where.is_dir():
        return None
    for need in script.needs:
        lay(folder, where, need)
    words = shlex.split(script.command)
    extra = {}
    while "=" in words[0] and not words[0].startswith("-"):
        key, _, value = words.pop(0).partition("=")
        extra[key] = value
    paths = [str(STANDINS), str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]
    own = {
        "OMP_NUM_THREADS": "1",
        "STRANGERS_DATA": str(data),
        "COLUMNS": "100",
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    return Setting(where, tuple(words), {**os.environ, **own, **extra})


def run(
    script: Script, folder: Path, out: Path, limits: tuple[float, float], root: Path | None = None
) -> Ran:
    """One script under `netmend run`, from its own folder, interrupted as a terminal would; `root`: a copy of its repository to run instead."""
    start = setting(script, folder, root)
    if start is None:
        return Ran(script.name, "absent", 0, "", 0.0, ())
    target = out / "".join(c if c.isalnum() else "_" for c in script.name)[:150]
    answer, log = target.with_suffix(".json"), target.with_suffix(".log")
    answer.unlink(missing_ok=True)
    options = ["--json", str(answer), "--directory", str(out / "runs")]
    with log.open("wb") as stream:
        child = subprocess.Popen(
            [sys.executable, "-m", "netmend", "run", *options, *start.words],
            cwd=start.where,
            env=start.environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            preexec_fn=_hears_interrupts,
        )
        used, interrupted, killed = _wait(child, *limits)
    return _read(script, answer, log, used, interrupted, killed)


def _hears_interrupts() -> None:
    """What is started in the background ignores Ctrl-C, and its children would too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _wait(child: subprocess.Popen[bytes], seconds: float, wall: float) -> tuple[float, bool, bool]:
    began, used, interrupted = time.monotonic(), 0.0, 0.0
    while child.poll() is None:
        time.sleep(0.2)
        used = max(used, _cpu(child.pid))
        now = time.monotonic()
        if not interrupted and (used > seconds or now - began > wall):
            os.killpg(child.pid, signal.SIGINT)
            interrupted = now
        elif interrupted and now - interrupted > PATIENCE:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return used, True, True
    return used, bool(interrupted), False


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read(script: Script, answer: Path, log: Path, used: float, interrupted: bool, killed: bool) -> Ran:
    text = log.read_text(encoding="utf-8", errors="replace")
    own = [line for line in text.splitlines() if "/netmend/" in line and line.strip().startswith("File ")]
    trouble = own[-1].strip() if own else ""
    if "netmend: the report failed" in text:
        trouble = text[text.index("netmend: the report failed") :][:200]
    end = "killed" if killed else "interrupted" if interrupted else "finished"
    if not answer.exists():
        return Ran(script.name, "failed" if not interrupted else end, 0, "", round(used, 1), (), trouble)
    data = json.loads(answer.read_text(encoding="utf-8"))
    if not interrupted and data["run"].get("status") == "failed":
        end = "failed"
    told = tuple(
        Told(
            fault["code"],
            fault["confidence"],
            Path((fault["site"] or {}).get("file", "")).name,
            (fault["site"] or {}).get("line", 0),
            fault["summary"],
            fault["remedy"],
        )
        for fault in data["faults"]
    )
    return Ran(script.name, end, data["run"].get("steps", 0), data["verdict"], round(used, 1), told, trouble)


def judgements(file: Path = JUDGED) -> dict[tuple[str, str, str], tuple[str, str]]:
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        return {
            (row["script"], row["cause"], row["place"]): (row["judgement"], row["reason"])
            for row in csv.DictReader(stream)
        }


def table(ran: list[Ran], judged: dict[tuple[str, str, str], tuple[str, str]]) -> dict[str, int]:
    """Every told fault with its judgement, and the sums."""
    counts = {
        "scripts": 0,
        "trained": 0,
        "told": 0,
        TRUE: 0,
        ARGUABLE: 0,
        FALSE: 0,
        OPEN: 0,
        "scripts with a false alarm": 0,
        "trouble": 0,
    }
    for one in ran:
        if one.end == "absent":
            print(f"ABSENT  {one.name}")
            continue
        counts["scripts"] += 1
        counts["trained"] += one.steps > 0
        verdicts = []
        for told in one.told:
            place = f"{told.file}:{told.line}"
            judgement, reason = judged.get((one.name, told.cause, place), (OPEN, told.summary[:120]))
            verdicts.append(judgement)
            counts["told"] += 1
            counts[judgement] += 1
            print(
                f"{judgement.upper():9} {one.name}\n          {told.cause} {told.confidence:.2f} {place}: {reason}"
            )
        counts["scripts with a false alarm"] += FALSE in verdicts
        if one.trouble:
            counts["trouble"] += 1
            print(f"TROUBLE   {one.name}: {one.trouble}")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the repositories, each as <owner>+<name>")
    parser.add_argument(
        "--list", type=Path, default=HERE / "strangers.txt", help="which scripts; default strangers.txt"
    )
    parser.add_argument("--match", default="", help="only scripts whose name holds this text")
    parser.add_argument("--out", type=Path, help="outputs and answers; default FOLDER/.out")
    parser.add_argument("--seconds", type=float, default=15.0, help="CPU seconds before Ctrl-C")
    parser.add_argument("--wall", type=float, default=60.0, help="seconds before Ctrl-C all the same")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="run again what was run")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--save", type=Path, help="write the figures and what was told to this file")
    options = parser.parse_args()
    file = options.list if options.list.exists() else HERE / options.list
    chosen = scripts(file, options.match)
    folder, out = options.folder.resolve(), (options.out or options.folder / ".out").resolve()
    (out / "runs").mkdir(parents=True, exist_ok=True)
    prepare(folder)

    def one(script: Script) -> Ran | None:
        kept = out / ("".join(c if c.isalnum() else "_" for c in script.name)[:150] + ".ran.json")
        if kept.exists() and not options.again:
            values = json.loads(kept.read_text(encoding="utf-8"))
            return Ran(**{**values, "told": tuple(Told(**told) for told in values["told"])})
        if options.table:
            return None
        ran = run(script, folder, out, (options.seconds, options.wall))
        kept.write_text(json.dumps(asdict(ran)), encoding="utf-8")
        print(
            f"{ran.end:11} {ran.steps:6} steps {ran.cpu_seconds:5.1f} s {ran.verdict:10} {ran.name}",
            flush=True,
        )
        return ran

    with ThreadPoolExecutor(options.jobs) as pool:
        ran = [found for found in pool.map(one, chosen) if found is not None]
    print()
    counts = table(ran, judgements())
    print()
    for key, value in counts.items():
        print(f"{key:28} {value}")
    alarms = counts["scripts with a false alarm"]
    print(f"false alarms: {alarms} of {counts['scripts']} scripts, {alarms / max(1, counts['scripts']):.1%}")
    if options.save is not None:
        saved = {
            "counts": counts,
            "scripts": [asdict(one) | {"told": [told.figures for told in one.told]} for one in ran],
        }
        options.save.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
