"""Whatever a command calls by a code has a page."""

from __future__ import annotations

import pydoc
import re
from pathlib import Path

import pytest
from rich.console import Console

import netmend
from netmend.cli import main
from netmend.cli.explain import explanation
from netmend.vocabulary.cause import LEAVES

_SOURCES = Path(netmend.__file__).parent
_DEFINED = re.compile(r'\bcode(?:: ClassVar\[str\])? ?= ?"([A-Z]+(?:-[A-Z]+)*\d*)"')


def codes() -> set[str]:
    """Every code that a unit of any family declares, and every cause."""
    found = set(LEAVES)
    for file in _SOURCES.rglob("*.py"):
        found |= set(_DEFINED.findall(file.read_text(encoding="utf-8")))
    return found


def test_every_code_has_a_page() -> None:
    found = codes()
    assert {code[0] for code in found if code[-1].isdigit()} >= set("DMNRSW")
    for code in sorted(found):
        assert len([line for line in explanation(code) if line.strip()]) >= 1, code


def test_the_measures_of_adequacy_have_pages() -> None:
    for name in ("NLC", "LSC", "DSC", "MDSC", "LSA", "DSA", "MDSA", "DeepGini", "MCP", "CoreSet", "APFD"):
        assert name in explanation(name)[0]


def test_the_list_of_all_codes_is_paged_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(pydoc, "pager", lambda text, *_: shown.append(text))
    main(["explain"])
    assert not shown and "S201" in capsys.readouterr().out
    monkeypatch.setattr(
        "netmend.cli.explain.console", lambda stream: Console(file=stream, force_terminal=True)
    )
    main(["explain"])
    assert "S201" in shown[0] and "S201" not in capsys.readouterr().out
