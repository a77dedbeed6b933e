"""Runs inside the other tools' environment: what mldoct and torch-audit say about files, as JSON on standard output.

mldoct reads the text. torch-audit's static phase needs a built model: the file's imports, definitions and assignments are executed up to its first loop,
and every module object, and every module class that can be built without arguments, is audited with its optimiser.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys


def by_mldoct(file: str) -> list[dict]:
    from mldoctor.linter import lint_script

    findings, _ = lint_script(file)
    return [{"file": file, "line": item["line"], "name": item["type"]} for item in findings]


def by_torch_audit(file: str) -> list[dict]:
    import torch
    from torch_audit import audit

    names: dict = {"__name__": "audited"}
    for statement in ast.parse(open(file, encoding="utf-8").read()).body:  # noqa: PTH123, SIM115
        if isinstance(statement, (ast.For, ast.While)):
            break
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign)):
            with contextlib.suppress(Exception, SystemExit):
                exec(compile(ast.Module([statement], []), file, "exec"), names)
    values = list(names.values())
    models = [value for value in values if isinstance(value, torch.nn.Module)]
    for value in values:
        own = isinstance(value, type) and issubclass(value, torch.nn.Module) and value.__module__ == "audited"
        if own and not any(type(model) is value for model in models):
            with contextlib.suppress(Exception):
                models.append(value())
    optimizer = next((value for value in values if isinstance(value, torch.optim.Optimizer)), None)
    found = []
    for model in models:
        with contextlib.suppress(Exception):
            result = audit(model, optimizer=optimizer)
            found += [{"file": file, "line": None, "name": finding.rule_id} for finding in result.findings]
    return found


def main() -> None:
    tool = {"mldoct": by_mldoct, "torch-audit": by_torch_audit}[sys.argv.pop()]  # programs must not see it
    found = []
    for file in json.load(sys.stdin):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            found += tool(file)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
