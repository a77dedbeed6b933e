"""What is known about the machine and the Python that netmend runs in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Gpu:
    name: str
    memory: int | None  # bytes
    capability: str | None  # such as 9.0


@dataclass(frozen=True)
class Space:
    """A file system: where, how much in all, how much free (bytes)."""

    path: str
    total: int
    free: int


@dataclass(frozen=True)
class TorchBuild:
    """What the installed torch was compiled for, read from its files without importing it."""

    version: str
    cuda: str | None
    hip: str | None
    folder: str


@dataclass(frozen=True)
class Environment:
    python: str
    implementation: str
    executable: str
    system: str  # linux, windows, darwin
    release: str  # name and version of the operating system
    machine: str  # x86_64, arm64
    libc: str | None
    packages: Mapping[str, str]  # normalised name of every installed distribution to its version
    torch: TorchBuild | None = None
    driver: str | None = None  # version of the NVIDIA driver
    gpus: tuple[Gpu, ...] = ()
    cores: int | None = None
    memory: int | None = None  # bytes in all
    memory_free: int | None = None
    spaces: tuple[Space, ...] = ()
    shared_memory: Space | None = None  # /dev/shm, through which DataLoader workers hand over batches
    open_files: int | None = None  # ulimit -n
    variables: Mapping[str, str] = field(default_factory=dict)  # those that steer frameworks
    conflicts: tuple[str, ...] = ()  # what installed distributions ask of each other and do not get

    def version(self, name: str) -> str | None:
        """The version of a distribution or a part of the machine: python, driver, cuda, glibc."""
        if name == "python":
            return self.python
        if name == "driver":
            return self.driver
        if name == "cuda":
            return self.torch.cuda if self.torch else None
        if name == "glibc":
            return self.libc.split()[-1] if self.libc and self.libc.startswith("glibc") else None
        if name == "system":
            return self.system
        return self.packages.get(name)


@dataclass(frozen=True)
class Problem:
    """Something that is wrong (`bad`) or may be (`warning`), what to do about it, and how that is known."""

    level: str
    about: str  # the libraries or parts concerned
    what: str
    do: str
    source: str = ""
