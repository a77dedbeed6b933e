"""Whether a text is Python is told, whatever other threads do meanwhile."""

from __future__ import annotations

import ast

import pytest

from netmend.repair.apply import is_whole


@pytest.mark.parametrize(("text", "whole"), [("a = 1\n", True), ("a = (\n", False)])
def test_a_collision_with_another_thread_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, text: str, whole: bool
) -> None:
    parse, collisions = ast.parse, [2]

    def colliding(source: bytes) -> ast.Module:
        if collisions[0]:
            collisions[0] -= 1
            raise SystemError("AST constructor recursion depth mismatch (before=45, after=67)")
        return parse(source)

    monkeypatch.setattr(ast, "parse", colliding)
    assert is_whole("a.py", text) is whole
