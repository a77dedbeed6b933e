"""What a variable holds behind several paths: one value, or one of a few."""

from __future__ import annotations

from netmend.program.engine.values import Call, Const, Either, Unknown, Value, resolved

_MOST_OPTIONS = 6  # paths that are told apart for one variable


def either(*values: Value) -> Value:
    """The joined value of several paths."""
    options: list[Value] = []
    for value in values:
        for option in value.options if isinstance(value, Either) else (value,):
            if not any(option is known or _same_constant(option, known) for known in options):
                options.append(option)
    if len(options) > 1:
        options = _without_wrappers(options)
    if len(options) == 1:
        return options[0]
    if len(options) > _MOST_OPTIONS:
        return Unknown(options[0].node)
    return Either(tuple(options))


SHARING = ("torch.nn.parallel.DistributedDataParallel", "torch.distributed.fsdp.FullyShardedDataParallel")
WRAPPERS = frozenset((*SHARING, "torch.nn.DataParallel", "torch.nn.parallel.DataParallel"))


def _without_wrappers(options: list[Value]) -> list[Value]:
    """`model` and, on some path, `DataParallel(model)`: the same model either way."""
    plain = [resolved(option) for option in options]
    return [option for option in options if not _wraps(option, plain)]


def _wraps(option: Value, others: list[Value]) -> bool:
    value = resolved(option)
    if not isinstance(value, Call) or value.qualified not in WRAPPERS or not value.args:
        return False
    inner = resolved(value.args[0])
    return any(inner is other for other in others)


def _same_constant(one: Value, other: Value) -> bool:
    return (
        isinstance(one, Const)
        and isinstance(other, Const)
        and type(one.value) is type(other.value)
        and one.value == other.value
    )
