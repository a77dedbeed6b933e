"""What every unit (detector, cause, …) shares: registration by family, and examples that are its tests."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, FrozenInstanceError, dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

if TYPE_CHECKING:
    from netmend.vocabulary import Trace

Unit = TypeVar("Unit")
Value = TypeVar("Value")


BASES = (
    "calibrated",  # set from what healthy and faulty programs of the calibration corpus show; benchmarks/calibrate.py prints it
    "exact",  # follows from a definition or from arithmetic: a count, a sign, machine precision
    "published",  # taken from a study or a tool, which the origin names
    "convention",  # how long to look, how many to show: changes when something is told, not what
)


def threshold(value: Value, basis: str, origin: str) -> Value:
    """A field of a unit that decides something: its value, on what basis it was chosen, and from where."""
    if basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, got {basis!r}")
    return field(default=value, metadata={"basis": basis, "origin": origin})


def calibrated(value: Value, origin: str) -> Value:
    return threshold(value, "calibrated", origin)


def exact(value: Value, origin: str) -> Value:
    return threshold(value, "exact", origin)


def published(value: Value, origin: str) -> Value:
    return threshold(value, "published", origin)


def convention(value: Value, origin: str) -> Value:
    return threshold(value, "convention", origin)


@dataclass(frozen=True)
class Run:
    """An example: a run that a unit must be silent about, or must speak about.

    Written as `{"flat from the start": lambda: net_run(...)}`: examples are for tests and pages, and a judge that loads the unit must not
    pay for them. With the leaf that is expected, where it is not the unit's own: `{"flat": ("HYP-LR-LOW", lambda: ...)}`.
    """

    title: str
    build: Callable[[], Trace]
    code: str = ""  # faulty examples of causes: the leaf expected first, where the unit names several

    @cached_property
    def trace(self) -> Trace:
        return self.build() if callable(self.build) else self.build


def runs(examples: Mapping[str, Any] | tuple[Run, ...]) -> tuple[Run, ...]:
    """Examples as they are written, or taken from another unit, as they are used."""
    if isinstance(examples, tuple):
        return examples
    return tuple(
        Run(title, build[1], build[0]) if isinstance(build, tuple) else Run(title, build)
        for title, build in examples.items()
    )


def record(unit: type[Any]) -> type[Any]:
    """Make a class of thresholds a frozen dataclass without what `dataclass` compiles for each: hundreds are loaded to judge a run."""
    if is_dataclass(unit):
        return unit
    thresholds = {name: type(value.default) for name, value in vars(unit).items() if isinstance(value, Field)}
    unit.__annotations__ = thresholds | inspect.get_annotations(unit)
    made: Any = dataclass(init=False, repr=False, eq=False)(unit)
    made.__init__, made.__setattr__, made.__delattr__ = _choose, _refuse, _refuse
    return made  # type: ignore[no-any-return]


def _choose(self: Any, **chosen: Any) -> None:
    known = {threshold.name: threshold.default for threshold in fields(self)}
    if chosen.keys() - known.keys():
        raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(chosen.keys() - known.keys()))}")
    self.__dict__.update(known | chosen)


def _refuse(self: Any, name: str, *value: Any) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


class Family(Generic[Unit]):
    """All units of one kind, by code: classes in the files of one package, where small sisters share a file."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._units: dict[str, type[Unit]] = {}
        self._loaded = False
        self.problems: list[str] = []  # units that could not be loaded; a report goes on without them

    def register(self, unit: type[Any]) -> type[Any]:
        code = unit.code
        known = self._units.get(code)
        if known is not None and known.__qualname__ != unit.__qualname__:
            raise ValueError(
                f"{unit.__name__} and {known.__name__} share the code {code}; codes are never reused"
            )
        self._units[code] = unit
        return unit

    def some(self, names: Iterable[str]) -> tuple[Unit, ...]:
        """The units of a few files, in the order of their codes; the others are not loaded."""
        wanted = {f"{self._package}.{name}" for name in names}
        for name in wanted:
            self._load(name.rpartition(".")[2])
        return tuple(unit() for _, unit in sorted(self._units.items()) if unit.__module__ in wanted)

    def _load(self, name: str) -> None:
        try:
            importlib.import_module(f"{self._package}.{name}")
        except Exception as problem:  # noqa: BLE001 - one broken unit must not cost the others
            told = f"{name} ({type(problem).__name__}: {problem})"
            if told not in self.problems:
                self.problems.append(told)

    def classes(self) -> dict[str, type[Unit]]:
        """Every unit of the package, in the order of their codes."""
        if not self._loaded:
            package = importlib.import_module(self._package)
            for module in pkgutil.iter_modules(package.__path__):
                self._load(module.name)
            self._loaded = True
        return dict(sorted(self._units.items()))

    def all(self) -> tuple[Unit, ...]:
        return tuple(unit() for unit in self.classes().values())


def snake_case(name: str) -> str:
    """`DeadReLU` → `dead_relu`."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", spaced).lower()


def page(unit: type[Any]) -> tuple[str, str]:
    """First line and the rest of a unit's explanation."""
    text = inspect.cleandoc(unit.__doc__ or "")
    first, _, rest = text.partition("\n")
    return first.strip(), rest.strip()
