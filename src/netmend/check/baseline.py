"""The baseline: findings that are known and not to be told again. They are known by their line's text, not its number."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from netmend.errors import UsageError
from netmend.program.text.positions import lines_of
from netmend.vocabulary.finding import Finding

SCHEMA = 1
Sources = Callable[[str, int | None], str]  # file, cell → text


class Known(NamedTuple):
    """What a finding is recognised by when lines have moved."""

    file: str
    code: str
    line: str  # the source line, blanks around it dropped


@dataclass(frozen=True)
class Baseline:
    """How many findings of each kind are known."""

    counts: Counter[Known]


@dataclass(frozen=True)
class Split:
    """Findings beside a baseline."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    stale: int  # entries of the baseline that no longer occur


def identity(finding: Finding, sources: Sources) -> Known:
    """File, code and the text of the line; of a notebook the cell does not count, for cells move too."""
    text = lines_of(sources(finding.file, finding.cell)).content(finding.line)
    return Known(_file(finding.file), finding.code, " ".join(text.split()))


def split(
    findings: Iterable[Finding], known: Baseline, sources: Sources, checked: Collection[str] | None = None
) -> Split:
    """Tell the new findings from the known. `checked`: the files looked at, so that others are not called stale."""
    left = known.counts.copy()
    new: list[Finding] = []
    old: list[Finding] = []
    for finding in findings:
        entry = identity(finding, sources)
        (old if left[entry] > 0 else new).append(finding)
        left[entry] -= 1
    seen = None if checked is None else {_file(file) for file in checked}
    stale = sum(count for entry, count in left.items() if count > 0 and (seen is None or entry.file in seen))
    return Split(tuple(new), tuple(old), stale)


def write(path: Path, findings: Iterable[Finding], sources: Sources) -> int:
    """Make these findings the known ones; gives their number."""
    counts = Counter(identity(finding, sources) for finding in findings)
    try:
        path.write_text(_as_text(counts), encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"the baseline {path} cannot be written: {problem.strerror or problem}") from None
    return sum(counts.values())


def load(path: Path) -> Baseline:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"there is no baseline {path}; write one with --baseline {path} --write-baseline"
        ) from None
    except OSError as problem:
        raise UsageError(f"the baseline {path} cannot be read: {problem.strerror or problem}") from None
    except json.JSONDecodeError as problem:
        raise _malformed(path, f"line {problem.lineno}: {problem.msg}") from None
    except (ValueError, RecursionError) as problem:
        raise _malformed(path, str(problem) or type(problem).__name__) from None
    if not isinstance(data, dict) or not isinstance(data.get("findings"), dict):
        raise _malformed(path, 'it has no "findings"')
    if data.get("schema") != SCHEMA:
        raise UsageError(
            f"the baseline {path} has the schema {data.get('schema')!r}, this netmend reads {SCHEMA}; "
            "write it anew with --write-baseline"
        )
    return Baseline(_counts(path, data["findings"]))


def _counts(path: Path, files: dict[str, Any]) -> Counter[Known]:
    counts: Counter[Known] = Counter()
    for file, entries in files.items():
        if not isinstance(entries, list):
            raise _malformed(path, f"{file!r} has no list of findings")
        for entry in entries:
            match entry:
                case {"code": str(code), "line": str(line), **rest}:
                    count = rest.get("count", 1)
                case _:
                    raise _malformed(path, f"{file!r} has an entry without code and line: {entry!r:.60}")
            if type(count) is not int or count < 1:
                raise _malformed(path, f"{file!r} has an entry with the count {count!r:.20}")
            counts[Known(_file(file), code, " ".join(line.split()))] += count
    return counts


def _as_text(counts: Counter[Known]) -> str:
    """Sorted, one finding a line, so that two versions compare and merge well."""
    files: dict[str, list[str]] = {}
    for entry, count in sorted(counts.items()):
        data: dict[str, Any] = {"code": entry.code, "line": entry.line}
        if count > 1:
            data["count"] = count
        files.setdefault(entry.file, []).append(json.dumps(data, ensure_ascii=False))
    blocks = (
        f"    {json.dumps(file, ensure_ascii=False)}: [\n      " + ",\n      ".join(entries) + "\n    ]"
        for file, entries in files.items()
    )
    inside = ",\n".join(blocks)
    findings = f"{{\n{inside}\n  }}" if inside else "{}"
    return f'{{\n  "schema": {SCHEMA},\n  "findings": {findings}\n}}\n'


def _file(file: str) -> str:
    return PurePath(file.replace("\\", "/")).as_posix()


def _malformed(path: Path, reason: str) -> UsageError:
    return UsageError(
        f"the baseline {path} cannot be understood ({reason}); write it anew with --write-baseline"
    )
