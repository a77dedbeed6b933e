"""Whether one layer's output goes straight into another: what a value that a call is given stems from."""

from __future__ import annotations

from netmend.library.operations import VIEWS
from netmend.program.engine.values import Call, Value
from netmend.program.meaning.operations import Op
from netmend.program.of_run import likely, program_of
from netmend.program.text.queries import last_name
from netmend.program.text.sources import Sources
from netmend.vocabulary import ModuleFact, Site

RESHAPING = (*VIEWS, "contiguous", "dropout", "to", "float", "identity", "batchnorm")
POOLING = (
    "mean", "avg_pool", "adaptive_avg_pool", "max_pool", "interpolate", "pad", "avgpool", "adaptiveavgpool", "maxpool", "upsample",
    "zeropad", "unflatten",
)  # fmt: skip


def handed_on(
    sources: Sources, first: ModuleFact, second: ModuleFact, through: tuple[str, ...] = RESHAPING
) -> bool:
    """Whether a layer is given what another one makes, with nothing but such operations between (by the start of their names)."""
    return any(
        _stems_from(call.args[0], first, through)
        for call in program_of(sources).calls(second.called)
        if call.args and _is_of(call, second)
    )


def fed_by(sources: Sources, site: Site, layer: ModuleFact) -> bool:
    """Whether a functional call at a site takes a layer's output as it is: `torch.softmax(self.fc(x), 1)`, `self.fc(x).softmax(1)`."""
    calls = program_of(sources).calls(site)
    given = [value for call in calls for value in (*call.args[:1], call.receiver) if value is not None]
    return any(_stems_from(value, layer, RESHAPING) for value in given)


def _stems_from(value: Value, layer: ModuleFact, through: tuple[str, ...]) -> bool:
    def passes(op: Op) -> bool:
        return op.name.startswith(through)

    return any(isinstance(source, Call) and _is_of(source, layer) for source in likely(value, passes))


def _is_of(call: Call, layer: ModuleFact) -> bool:
    return call.node is not None and last_name(call.node.func) == layer.name.rpartition(".")[2]
