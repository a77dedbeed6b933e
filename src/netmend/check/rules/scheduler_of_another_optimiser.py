from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import common_loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.optimisers import handed_on, made_optimisers, steps
from netmend.program.meaning.training import is_backward, is_opaque, is_schedule
from netmend.vocabulary.finding import Finding, Related

HEAD = "import torch\nfrom torch import nn\nfrom torch.optim.lr_scheduler import StepLR\n\nnet = nn.Linear(4, 2)\n"
LOOP = "for epoch in range(9):\n    for x, y in data:\n        opt.zero_grad()\n        net(x).sum().backward()\n        opt.step()\n    scheduler.step()\n"


@register
class SchedulerOfAnotherOptimiser(StaticRule):
    """The scheduler was made for an optimiser that never steps, while another one does the training.

    The scheduler changes the rate of the optimiser it was given. If that one was replaced later, the rate of the optimiser in use
    stays where it was, and nothing complains.

    Make the scheduler after the optimiser that the loop steps, and give it that one.
    """

    code = "S414"
    cause = "HYP-LR-SCHED"
    message = "This scheduler belongs to an optimiser that never steps; create it from the optimiser that the loop uses."
    triggers = ("lr_scheduler", "LR(")

    GOOD = (
        Snippet("the same optimiser", HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nscheduler = StepLR(opt, 3)\n" + LOOP),
        Snippet("two of each", HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nother = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "scheduler = StepLR(other, 3)\n" + LOOP.replace("opt.step()\n", "opt.step()\n        other.step()\n", 1)),
        Snippet("stepped by a scaler", HEAD + "scaler = torch.cuda.amp.GradScaler()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "scheduler = StepLR(opt, 3)\n" + LOOP.replace("opt.step()", "scaler.step(opt)")),
        Snippet("prepared by a library", "from accelerate import Accelerator\n" + HEAD + "first = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "scheduler = StepLR(first, 3)\nopt = Accelerator().prepare(first)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("optimiser replaced", HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nscheduler = StepLR(opt, 3)\n"
                "opt = torch.optim.Adam(net.parameters())\n" + LOOP, line=7),
        Snippet("in a function", "import torch\ndef fit(model, data):\n    adam = torch.optim.Adam(model.parameters())\n"
                "    sgd = torch.optim.SGD(model.parameters(), lr=0.1)\n    schedule = torch.optim.lr_scheduler.ExponentialLR(adam, 0.9)\n"
                "    for x in data:\n        sgd.zero_grad()\n        model(x).mean().backward()\n        sgd.step()\n        schedule.step()\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = {id(made.call) for made in made_optimisers(program)}
        stepping = steps(program)
        if len(known) < 2 or any(id(value) not in known for _, value in stepping):
            return
        seen: set[int] = set()
        for event in program.methods_of("step"):
            call = event.call
            scheduler = resolved(call.receiver) if call is not None and call.receiver is not None else None
            if not is_schedule(event) or not isinstance(scheduler, Call) or id(scheduler) in seen:
                continue
            optimiser = _optimiser(scheduler)
            if optimiser is None or id(optimiser) not in known:
                continue
            if any(value is optimiser for _, value in stepping):
                continue
            used = next((step for step, _ in stepping if common_loop(step, event) is not None), None)
            if used is None or handed_on(program, optimiser)[1:] or scheduler.node is None:
                continue
            loop = common_loop(used, event)
            if loop is None or any(
                is_opaque(inner) and not is_backward(inner) for inner in loop.body.events()
            ):
                continue
            seen.add(id(scheduler))
            place = program.place(used.node)
            stepped = Related("The loop steps another optimiser here.", place.file, place.line, place.column)
            yield self.finding(program, scheduler.node, related=(stepped,))


def _optimiser(scheduler: Call) -> Call | None:
    given: Value | None = scheduler.argument("optimizer", 0)
    found = resolved(given) if given is not None else None
    return found if isinstance(found, Call) else None
