"""Combinations known not to work, against made-up environments: each entry speaks, and is silent just beside its range."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netmend.environment.facts import Environment, Gpu, Problem, Space, TorchBuild
from netmend.environment.known_bad import known, problems_of, removed_name
from netmend.environment.versions import matches

HEALTHY = Environment(
    "3.11.4", "CPython", "python", "linux", "Ubuntu 22.04", "x86_64", "glibc 2.35", {"numpy": "1.26.0"}
)


def environment(python: str = "3.11.4", **packages: str) -> Environment:
    named = {name.replace("_", "-"): version for name, version in packages.items()}
    build = TorchBuild(packages["torch"], None, None, "") if "torch" in packages else None
    return replace(HEALTHY, python=python, packages=named, torch=build)


def on(cuda: str, driver: str, capability: str = "8.0") -> Environment:
    return replace(
        environment(torch="2.2.0"),
        torch=TorchBuild("2.2.0", cuda, None, ""),
        driver=driver,
        gpus=(Gpu("A100", None, capability),),
    )


def bad(found: Environment) -> list[Problem]:
    return [problem for problem in problems_of(found) if problem.level == "bad"]


def test_a_healthy_environment_is_quiet() -> None:
    assert problems_of(HEALTHY) == ()
    assert problems_of(environment(torch="2.13.0+cpu", numpy="2.4", torchvision="0.28.0")) == ()


@pytest.mark.parametrize(
    ("wrong", "right", "word"),
    [
        (environment(torch="2.2.2", numpy="2.0.1"), environment(torch="2.3.0", numpy="2.0.1"), "Numpy is not available"),
        (environment(tensorflow="2.7.1", protobuf="4.21.0"), environment(tensorflow="2.12.0", protobuf="4.21.0"), "Descriptors"),
        (environment(tensorflow="2.3.0", h5py="3.1"), environment(tensorflow="2.3.0", h5py="2.10"), "decode"),
        (environment(mxnet="1.9.1", numpy="1.24.0"), environment(mxnet="1.9.1", numpy="1.23.5"), "bool"),
        (environment("3.12.0", setuptools="65.0"), environment("3.11.0", setuptools="65.0"), "ImpImporter"),
        (
            environment(transformers="4.40", tensorflow="2.16.1", keras="3.1"),
            environment(transformers="4.40", tensorflow="2.16.1", keras="3.1", tf_keras="2.16"),
            "Keras 3",
        ),
        (environment(torch="2.4.0", torchvision="0.18.0"), environment(torch="2.4.1", torchvision="0.19.1"), "0.19"),
        (environment(torch="2.0.1", torchaudio="0.13.1"), environment(torch="2.0.1", torchaudio="2.0.2"), "torchaudio"),
        (on("12.1", "470.57"), on("12.1", "535.104.05"), "driver 525"),
        (on("11.0", "535.1", "9.0"), on("11.8", "535.1", "9.0"), "no kernel image"),
    ],
)  # fmt: skip
def test_known_combinations(wrong: Environment, right: Environment, word: str) -> None:
    (problem,) = bad(wrong)
    assert word in problem.what and problem.do and problem.source.startswith("http")
    assert bad(right) == []


def test_code_for_one_ampere_device_runs_on_the_others() -> None:
    assert bad(on("11.0", "535.1", "8.6")) == [] and bad(on("11.7", "535.1", "8.9")) == []
    assert bad(on("12.4", "580.1", "12.0")) != []


def test_lightning_asks_for_a_newer_torch() -> None:
    (problem,) = problems_of(environment(torch="1.10.0", pytorch_lightning="2.2.0", python="3.9.0"))
    assert problem.level == "warning" and "1.13 or later" in problem.what


def test_python_too_new_for_torch() -> None:
    (problem,) = problems_of(environment("3.12.1", torch="1.13.1"))
    assert "built for Python >=3.7.2,<3.11" in problem.what


def test_device_without_a_cuda_build_and_small_limits() -> None:
    found = replace(
        environment(torch="2.2.0"),
        gpus=(Gpu("T4", None, "7.5"),),
        driver="535.1",
        shared_memory=Space("/dev/shm", 64 * 1024**2, 64 * 1024**2),
        open_files=256,
        memory=16 * 1024**3,
        memory_free=200 * 1024**2,
        spaces=(Space("/x", 10**12, 10**8),),
        conflicts=("a 1 needs b>=2, but 1 is installed",),
    )
    whats = " ".join(problem.what for problem in problems_of(found))
    for word in (
        "built without CUDA",
        "/dev/shm has 64 MB",
        "open 256 files",
        "200 MB of memory",
        "95 MB free",
        "a 1 needs b>=2",
    ):
        assert word in whats
    assert bad(found) == []


def test_odd_versions_prove_nothing() -> None:
    assert bad(environment(torch="2.2.0", numpy="unknown")) == []


def test_every_entry_of_the_data_is_complete() -> None:
    for entry in known("combinations")["entries"]:
        assert (
            entry["level"] in ("bad", "warning")
            and entry["happens"]
            and entry["do"]
            and entry["source"].startswith("http")
        )
        for ranges in filter(None, entry["when"].values()):
            matches("1.0", ranges)
    for table in known("pairs")["tables"]:
        assert table["source"].startswith("http") and table["relation"] in ("same release", "at least")
    for ranges in known("torch_python")["ranges"].values():
        matches("3.10", ranges)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("module 'numpy' has no attribute 'float'", "numpy.float"),
        ("No module named 'torch._six'", "torch._six"),
        ("module 'PIL.Image' has no attribute 'ANTIALIAS'", "PIL.Image.ANTIALIAS"),
        ("module 'numpy' has no attribute 'floating'", None),
        ("No module named 'pkg'", None),
    ],
)
def test_removed_names(message: str, name: str | None) -> None:
    entry = removed_name(message)
    assert (entry["name"] if entry else None) == name
