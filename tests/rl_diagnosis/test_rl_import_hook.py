"""Something is done right after a package was imported, also when the package is half imported already."""

from __future__ import annotations

import importlib
import sys

from netmend.launch.import_hook import AfterImport


def _package(folder, name, text):
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_after_a_package_that_is_half_imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    called: list[bool] = []
    hook = AfterImport("nm_half", lambda: called.append(hasattr(sys.modules["nm_half"], "finished")))
    monkeypatch.setattr(sys, "nm_hook", hook, raising=False)
    _package(tmp_path, "nm_half", "import sys\nsys.nm_hook.install()\nimport nm_inner\nfinished = True\n")
    _package(tmp_path, "nm_inner", "")
    _package(tmp_path, "nm_next", "")
    importlib.import_module("nm_half")
    assert called == []
    importlib.import_module("nm_next")
    assert called == [True] and hook not in sys.meta_path
    for name in ("nm_half", "nm_inner", "nm_next"):
        sys.modules.pop(name, None)


def test_at_once_when_it_is_there_and_later_when_it_is_not(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    called: list[str] = []
    AfterImport("json", lambda: called.append("json")).install()
    assert called == ["json"]
    _package(tmp_path, "nm_later", "value = 3\n")
    AfterImport("nm_later", lambda: called.append("later")).install()
    assert called == ["json"]
    assert importlib.import_module("nm_later").value == 3
    assert called == ["json", "later"]
    sys.modules.pop("nm_later", None)
