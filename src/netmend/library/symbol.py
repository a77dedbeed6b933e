"""How a name or an argument of a library that goes away is described."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    """A name of a library: since when it is deprecated, in which version it is gone ("" while it is there)."""

    name: str
    deprecated: str
    removed: str
    instead: str
    source: str
    announced: bool = False  # the documentation says that it will be removed
    back: str = ""  # the version in which it came back
    method: bool = False  # tensors had a method of that name too, and nothing else is likely to
    tensor: bool = False  # the same for what is a tensor for certain: other objects have such methods too

    @property
    def package(self) -> str:
        first = self.name.partition(".")[0]
        return "torch" if first == "functorch" else first

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Argument:
    """An argument of a library's functions; `owner` is a full name, or a prefix that ends in a dot."""

    owner: str
    keyword: str
    deprecated: str
    removed: str
    instead: str
    source: str
    ending: tuple[str, ...] = ()  # only functions whose name ends so
    announced: bool = False  # the documentation says that it will be removed
    position: int | None = None  # where True or False mean this argument too

    @property
    def package(self) -> str:
        return self.owner.partition(".")[0]

    def belongs_to(self, qualified: str) -> bool:
        if not self.owner.endswith("."):
            return qualified == self.owner
        return qualified.startswith(self.owner) and (not self.ending or qualified.endswith(self.ending))
