"""Ways to repair a program, with the same budget and the same proof."""

from __future__ import annotations

from pathlib import Path

from repair_rivals import RIVALS

from netmend.repair.options import RepairOptions
from netmend.repair.result import Result
from netmend.repair.session import repair
from netmend.trials.trial import Target
from netmend.verify.verify import verify


def netmend(folder: Path, script: str, executor) -> Result:
    return repair(Target(script, (), False, str(folder)), RepairOptions(), verify, executor=executor)


METHODS = {"netmend": netmend, **RIVALS}
