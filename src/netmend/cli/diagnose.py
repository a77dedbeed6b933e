"""`netmend diagnose`: judge a recorded run again."""

from __future__ import annotations

import sys
from pathlib import Path

from netmend import report
from netmend.api import diagnose
from netmend.errors import UsageError
from netmend.vocabulary import CRASHED


def diagnose_run(
    name: str,
    form: str,
    html: Path | None,
    output: Path | None,
    directory: Path | None,
) -> int:
    """Prints or writes the diagnosis; returns the exit code."""
    if form not in report.FORMATS:
        raise UsageError(f"--format must be one of {', '.join(report.FORMATS)}, got {form!r}")
    judged = diagnose(name, directory=directory)
    if html is not None:
        _write(html, judged.html())
    if form != "text":
        text = report.render(form, judged.trace, judged.diagnosis)
        if output is not None:
            _write(output, text)
        else:
            sys.stdout.write(text)
    elif output is not None:
        _write(output, f"{judged}\n")
    else:
        report.console(sys.stdout).print(report.diagnosis_text(judged.trace, judged.diagnosis))
    return 1 if judged.faults or judged.verdict == CRASHED else 0


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{file} cannot be written: {problem.strerror or problem}") from None
