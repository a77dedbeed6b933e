"""Results of repairs, made by hand: proven, promising, none, arguments only, a program that fails, a healthy one."""

from __future__ import annotations

import math
from dataclasses import replace

from netmend.program.text.spans import Span
from netmend.repair.objective import Objective
from netmend.repair.result import Result
from netmend.repair.search import Attempt
from netmend.repair.version import Part, Version
from netmend.trials.trial import FAILED, FINISHED, STOPPED, Outcome
from netmend.vocabulary import FAULTY, HEALTHY, Diagnosis, Fault, Site
from netmend.vocabulary.change import Change
from netmend.vocabulary.verification import NONE, PROMISING, PROVEN, Verification

ROOT = "/trials/0a1b/program"
SOURCE = "import torch\n\nmodel = Net(\n    nn.Linear(16, 1),\n    nn.Sigmoid(),\n)\noptimizer = Adam(model.parameters(), lr=0.3)\n"
ACCURACY = Objective("printed:val acc", True, True)
LOSS = Objective("training:relative", False, False)
SEEDS = (1001, 1002, 1003, 1004, 1005)
DROP = Change("S204", "LYR-SOFTMAX-EXTRA", "Drop the sigmoid", knob="sigmoid")
RATE = Change("R401", "HYP-LR-HIGH", "learning rate 0.3 → 0.003", knob="lr")
FAULT = Fault(
    "LYR-SOFTMAX-EXTRA",
    0.99,
    "model",
    Site(f"{ROOT}/train.py", 5, 4, 5, 16),
    "`bce_with_logits` applies sigmoid itself, but its input went through one.",
    "The gradient all but vanishes.",
    "Drop the sigmoid.",
    "",
    title="sigmoid is applied twice",
)


def outcome(end: float, objective: Objective = ACCURACY, **changes: object) -> Outcome:
    points = [[step, end * (0.5 + step / 800)] for step in range(40, 401, 40)]
    known: dict[str, object] = {"steps": 400, "seconds": 1.9, "root": ROOT, **changes}
    return Outcome(FINISHED, series={objective.series: points}, **known)  # type: ignore[arg-type]


def dropped() -> Part:
    start = SOURCE.index("\n    nn.Sigmoid")
    return Part(DROP, {"train.py": (Span(start, SOURCE.index("\n)"), ""),)})


def slowed(text: str) -> Part:
    """The rate changed in a text that earlier parts may have changed."""
    start = text.index("0.3")
    return Part(RATE, {"train.py": (Span(start, start + 3, "0.003"),)})


def proven() -> Result:
    version = Version({"train.py": SOURCE}, (), (dropped(),))
    version = replace(version, parts=(*version.parts, slowed(version.text("train.py", ""))))
    old, new = (0.627, 0.712, 0.642, 0.637, 0.642), (0.93, 0.928, 0.938, 0.938, 0.915)
    made = Verification(
        PROVEN, SEEDS, old, new, 0.03125, 11.1, 0.278, (0.232, 0.323), steps_before=400, steps_after=400,
        seconds_before=1.73, seconds_after=1.85, trainings=10,
    )  # fmt: skip
    attempts = (
        Attempt(RATE, FINISHED, 0.66, 0.09, 1.0),
        Attempt(replace(RATE, title="learning rate 0.3 → 3"), STOPPED, None, -math.inf, 0.4),
        Attempt(replace(RATE, title="learning rate 0.3 → 30"), FAILED, None, -math.inf, 0.1),
        Attempt(DROP, FINISHED, 0.912, 0.764, 1.0, accepted=True),
    )
    return Result(
        "train.py", "project", (), version, ACCURACY, outcome(0.627, faults=(FAULT.cause,)),
        outcome(0.912), Diagnosis(FAULTY, (FAULT,)), attempts, made, 4.5, 21.7, "20 trainings",
        "metric recovered, no faults left",
        before=tuple(map(outcome, old)), after=tuple(map(outcome, new)),
    )  # fmt: skip


def promising() -> Result:
    """Some trainings fail on both sides, and another fault shows afterwards."""
    old, new = (0.6, None, 0.62, 0.61, math.inf), (0.66, 0.7, None, 0.64, 0.7)
    missing = ("the patched program fails with 1 of 5 seeds", "afterwards another fault is told: HYP-EPOCHS")
    result = proven()
    made = replace(
        result.verification or Verification(NONE), verdict=PROMISING, before=old, after=new, p_value=math.nan,
        missing=missing, new_faults=("HYP-EPOCHS",), new_symptoms=("D104",),
    )  # fmt: skip
    return replace(result, verification=made)


def arguments_only() -> Result:
    change = Change("R401", "HYP-LR-HIGH", "learning rate 10 → 0.01", arguments=("--lr", "0.01"), knob="lr")
    part = Part(change, {}, (("--lr", "10"), ("--lr", "0.01")))
    attempt = Attempt(change, FINISHED, 0.2, 0.9, 1.0, accepted=True)
    made = replace(
        proven().verification or Verification(NONE), before=(2.0, 2.1, 2.2, 2.0, 1.9), after=(0.2,) * 5
    )
    return replace(
        proven(), arguments=("--lr", "10"), version=Version({}, ("--lr", "10"), (part,)), objective=LOSS,
        attempts=(attempt,), verification=made, diagnosis=Diagnosis(HEALTHY),
        before=tuple(outcome(value, LOSS) for value in made.before if value is not None),
        after=tuple(outcome(0.2, LOSS) for _ in made.after),
    )  # fmt: skip


def nothing() -> Result:
    """Faulty, and nothing that was tried helped."""
    attempts = (Attempt(DROP, FINISHED, 0.625, -0.005, 1.0), Attempt(RATE, FINISHED, 0.1, -1.4, 1.0))
    return replace(
        proven(), version=Version({}), verification=None, attempts=attempts, before=(), after=(),
        stopped="no other change helped",
    )  # fmt: skip


def refuted() -> Result:
    """Helped in the search and not over seeds."""
    made = replace(
        proven().verification or Verification(NONE), verdict=NONE, after=(0.6, 0.7, 0.62, 0.6, 0.61),
        improvement=-0.03, interval=(-0.1, 0.04), p_value=0.9, effect_size=-0.4,
        missing=("the difference may be chance (p = 0.9, below 0.05 is asked for)",),
    )  # fmt: skip
    return replace(proven(), verification=made)


def crashed() -> Result:
    """Fails as it is, and nothing was recorded of it."""
    baseline = Outcome(
        FAILED, exit_code=1, exception="ValueError: <b>no</b> data\nsecond line", root=ROOT,
        notes=("connecting to data.example.org",),
    )  # fmt: skip
    return replace(
        nothing(), baseline=baseline, best=baseline, objective=None, diagnosis=None, attempts=(), trainings=1.0,
        stopped="nothing was recorded of the program, so there is nothing to change",
    )  # fmt: skip


def healthy() -> Result:
    return replace(nothing(), diagnosis=Diagnosis(HEALTHY), baseline=outcome(0.93))


RESULTS = {
    "proven": proven,
    "promising": promising,
    "arguments": arguments_only,
    "nothing": nothing,
    "refuted": refuted,
    "crashed": crashed,
    "healthy": healthy,
}
