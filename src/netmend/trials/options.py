"""What may be chosen for every command that trains: declared once, for the command line, the API and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from netmend.errors import UsageError

Own = TypeVar("Own", bound="TrialOptions")


@dataclass(frozen=True)
class Option:
    """How a field is given on the command line, and what it may be."""

    help: str
    names: tuple[str, ...] = ()  # where the option is not called like the field
    metavar: str | None = None
    least: int | None = None
    is_argument: bool = False
    group: str = ""  # heading in the help that begins with it


def option(
    default: Any,
    help: str,
    *names: str,
    metavar: str | None = None,
    least: int | None = None,
    is_argument: bool = False,
    group: str = "",
) -> Any:
    """A field of a dataclass that can be given on the command line; with MISSING as default it must be."""
    return field(
        default=default, metadata={"option": Option(help, names, metavar, least, is_argument, group)}
    )


@dataclass(frozen=True, kw_only=True)
class TrialOptions:
    """Where and how trainings run."""

    jobs: int | None = option(
        None, "Trainings in parallel (default: one per core).", "-j", "--jobs", metavar="N", least=1
    )
    threads: int = option(1, "Threads per training.", metavar="N", least=1)
    network: bool = option(False, "Let trials use the network.")
    megabytes: int | None = option(None, "Memory limit of one training.", "--memory", metavar="MB", least=1)
    seconds: float | None = option(
        None,
        "Longest training (default: 8 times the original program's).",
        "--time-limit",
        metavar="SECONDS",
    )
    executor: str = option("local", "Where trainings run.", metavar="local|ray")
    address: str | None = option(
        None, "Address of the Ray cluster (default: start one here).", metavar="ADDRESS"
    )
    directory: Path | None = None  # holds `trials/`; None: .netmend in the working directory
    results: tuple[Path, ...] = ()  # files that the outcome is written to: no part of the program

    def of_trials(self) -> dict[str, Any]:
        """What another command that trains takes over."""
        return {each.name: getattr(self, each.name) for each in fields(TrialOptions)}

    def checked(self: Own) -> Own:
        """Itself; an error for what makes no sense."""
        for each in fields(self):
            declared, value = each.metadata.get("option"), getattr(self, each.name)
            if declared is not None and None not in (declared.least, value) and value < declared.least:
                name = declared.names[-1] if declared.names else f"--{each.name}"
                raise UsageError(f"{name} must be at least {declared.least}, got {value}")
        if self.seconds is not None and not self.seconds > 0:
            raise UsageError(f"--time-limit must be a number of seconds above 0, got {self.seconds:g}")
        return self
