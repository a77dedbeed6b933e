"""Sites: whose file it is, and which of the user's lines led here."""

from __future__ import annotations

import json
import sys
import sysconfig
from pathlib import Path

import pytest

import netmend
from netmend.observe.sites import Sites

OWN = Path(netmend.__file__).resolve().parent


@pytest.mark.parametrize(
    "file",
    [
        "/srv/project/train.py",
        "/tmp/work/train.py",
        "train.py",
        "<ipython-input-3-0a>",
        "<stdin>",
        "/tmp/ipykernel_71/8.py",
    ],
)
def test_files_of_the_user(file: str) -> None:
    assert Sites().is_user_file(file)


@pytest.mark.parametrize(
    "file",
    [
        str(OWN / "observe" / "sites.py"),
        json.__file__,
        "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py",
        "/usr/lib/python3/dist-packages/numpy/core.py",
        "<frozen importlib._bootstrap>",
        "<string>",
        f"{sysconfig.get_path('stdlib')}/runpy.py",
    ],
)
def test_files_of_others(file: str) -> None:
    assert not Sites().is_user_file(file)


def test_installed_packages_that_are_run_as_the_program_are_the_users() -> None:
    folder = "/venv/lib/python3.11/site-packages/trainer"
    sites = Sites(extra_roots=(folder,))
    assert sites.is_user_file(f"{folder}/main.py")
    assert not sites.is_user_file("/venv/lib/python3.11/site-packages/torch/main.py")


def test_a_neighbour_whose_name_begins_alike_is_not_part_of_netmend() -> None:
    assert Sites().is_user_file(f"{OWN}_experiments/train.py")


def test_a_users_folder_that_only_sounds_installed_is_the_users() -> None:
    assert Sites().is_user_file("/srv/project/my-site-packages-study/train.py")


def test_here_is_the_callers_line() -> None:
    sites = Sites()
    site = sites.here()
    assert site is not None and site.file == __file__
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[site.line - 1]
    assert line.strip() == "site = sites.here()"
    assert site.function == "test_here_is_the_callers_line"
    if sys.version_info >= (3, 11):
        assert line[site.column : site.end_column] == "sites.here()"


def test_here_passes_over_frames_of_libraries() -> None:
    sites = Sites()
    seen = json.loads("[1]", object_hook=None, parse_int=lambda text: sites.here())
    assert seen[0].function.endswith("<lambda>")
    found = sorted([2, 1], key=lambda number: sites.here().line)  # type: ignore[union-attr]
    assert found == [2, 1]


def test_the_same_place_is_the_same_object() -> None:
    sites = Sites()
    places = [sites.here() for _ in range(3)]
    assert places[0] is places[1] is places[2]


class Made:
    def __init__(self, sites: Sites) -> None:
        self.site = sites.of_creation(self)


class Inherited(Made):
    def __init__(self, sites: Sites) -> None:
        super().__init__(sites)


class Owner:
    def __init__(self, sites: Sites) -> None:
        self.part = Inherited(sites)  # made in the initialiser of another object


def test_creation_passes_over_the_objects_own_initialisers() -> None:
    sites = Sites()
    site = Inherited(sites).site
    assert site is not None and site.function.startswith("test_creation")
    inner = Owner(sites).part.site
    assert inner is not None and inner.function.endswith("__init__")
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[inner.line - 1]
    assert "self.part = Inherited(sites)" in line


def test_no_user_frame_means_no_site() -> None:
    assert Sites().of(None) is None
