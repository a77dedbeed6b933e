"""R513."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.program.source.bindings import binding_of
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_MISSING = re.compile(r"Missing key\(s\) in state_dict: (.*?)\.(?:\s|$)", re.S)
_UNEXPECTED = re.compile(r"Unexpected key\(s\) in state_dict: (.*?)\.(?:\s|$)", re.S)
_NAME = re.compile(r'"([^"]+)"')


_example = partial(
    example,
    imports="from collections import OrderedDict",
    begin="""
    def made(body, head, width):
        layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        return nn.Sequential(OrderedDict([(body, layers), (head, nn.Linear(4, width))]))
    torch.manual_seed(0)
    first, net = made("body", "head", 3), made("encoder", "out", 2)""",
    model="",
    optimizer="torch.optim.SGD(net.parameters(), lr=0.1)",
    loop="for step in range(2)",
    backward="nn.functional.cross_entropy(net(x), y)",
)


class CheckpointNames(Repair, code="R513", cures=("TRN-CKPT", "API-RESTORE"), knob="checkpoint"):
    """Give the entries of a saved state the names that the model knows, or keep a copy of a state instead of a reference.

    With `strict=False` a state whose names have another prefix is passed over in silence. The prefix is changed while loading;
    heads that only one of the models has are left out as before.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = case.code.call_at(case.site)
        if found is None or not isinstance(found[1].func, ast.Attribute):
            return
        file, call = found
        if call.func.attr != "load_state_dict" or not call.args:  # type: ignore[attr-defined]
            inner = [c for c in file.calls("load_state_dict", inside=file.statement(call)) if c.args]
            if not inner:
                return
            call = inner[0]
        wanted, given, own = _names(case)
        if own:
            yield from self.change(case, "keep a copy of the state", _copied(file, call))
            return
        prefix = _prefix(given, wanted)
        if prefix is not None:
            title = f"names of the saved state: {prefix[0]!r} → {prefix[1]!r}"
            yield from self.change(case, title, _renamed(file, call, *prefix))

    EXAMPLES = {
        "another prefix": _example(
            data="""
                net.load_state_dict(⟨first.state_dict() → {k.replace("body.", "encoder.", 1): v for k, v in first.state_dict().items()}⟩, strict=False)
                x, y = torch.randn(8, 4), torch.arange(8) % 2"""
        ),
        "saved from a wrapper": _example(
            data="""
                saved = {"module." + k: v for k, v in net.state_dict().items()}
                net.load_state_dict(⟨saved → {k.removeprefix("module."): v for k, v in saved.items()}⟩, strict=False)
                x, y = torch.randn(8, 4), torch.arange(8) % 2"""
        ),
        "a state that went on changing": _example(
            imports="from collections import OrderedDict\n+ from copy import deepcopy",
            data="""
                best = ⟨net.state_dict() → deepcopy(net.state_dict())⟩
                x, y = torch.randn(8, 4), torch.arange(8) % 2""",
            end="net.load_state_dict(best)",
            mark="net.load_state_dict(best)",
        ),
        "all names fit": _example(
            data="""
                ⟨net.load_state_dict(made("encoder", "out", 2).state_dict())⟩
                x, y = torch.randn(8, 4), torch.arange(8) % 2"""
        ),
    }


def _names(case: Case) -> tuple[list[str], list[str], bool]:
    """Names that the model wants, names that the state gives, and whether the state is the model's own."""
    site = case.site
    for event in case.trace.events:
        if event.kind == "state loaded" and (
            site is None or event.site is None or event.site.line == site.line
        ):
            matched = int(event.detail.get("matched") or 0)
            own = bool(matched) and int(event.detail.get("aliased") or 0) == matched
            wanted, given = (list(event.detail.get(key) or ()) for key in ("missing_keys", "unexpected_keys"))
            if own or (wanted and given):
                return wanted, given, own
    text = case.trace.run.exception or ""
    missing, unexpected = _MISSING.search(text), _UNEXPECTED.search(text)
    if missing is not None and unexpected is not None:
        return _NAME.findall(missing[1]), _NAME.findall(unexpected[1]), False
    return [], [], False


def _prefix(given: list[str], wanted: list[str]) -> tuple[str, str] | None:
    """The start of the names that differs where their ends agree: ("encoder.", "backbone."); the one that fits most names."""
    found: dict[tuple[str, str], int] = {}
    for name in given:
        for other in wanted:
            end = _common_end(name, other)
            # A single "weight" or "bias" says nothing.
            if end.count(".") >= 1 or name.endswith(f".{other}") or other.endswith(f".{name}"):
                pair = name[: len(name) - len(end)], other[: len(other) - len(end)]
                found[pair] = found.get(pair, 0) + 1
    best = max(found, key=lambda pair: found[pair], default=None)
    return best if best is not None and found[best] * 2 >= min(len(given), len(wanted)) else None


def _common_end(one: str, other: str) -> str:
    """The dotted parts at the end that two names share."""
    first, second = one.split("."), other.split(".")
    count = 0
    while count < min(len(first), len(second)) and first[-1 - count] == second[-1 - count]:
        count += 1
    return ".".join(first[len(first) - count :])


def _renamed(file: File, call: ast.Call, old: str, new: str) -> FileEdits:
    state = file.source(call.args[0])
    if old and new:
        key = f'k.replace("{old}", "{new}", 1)'
    else:
        key = f'k.removeprefix("{old}")' if old else f'"{new}" + k'
    return replace(file, call.args[0], f"{{{key}: v for k, v in {state}.items()}}")


def _copied(file: File, call: ast.Call) -> FileEdits:
    """Where the state that is loaded was taken: `best = model.state_dict()` → `best = copy.deepcopy(model.state_dict())`."""
    if not isinstance(call.args[0], ast.Name | ast.Attribute):
        return ()
    name = call.args[0].id if isinstance(call.args[0], ast.Name) else call.args[0].attr
    edits: FileEdits = ()
    known, extra = spelled(file, "copy.deepcopy")
    for node in inside(file.tree, ast.Assign):
        if not any(_is_named(target, name) for target in node.targets):
            continue
        for taken in file.calls("state_dict", inside=node.value):
            edits = (*edits, *wrap(file, taken, f"{known}(", ")"))
    if (
        not edits
        and isinstance(call.args[0], ast.Name)
        and (bound := binding_of(file, call.args[0])) is not None
    ):
        for taken in file.calls("state_dict", inside=bound.value):
            edits = (*edits, *wrap(file, taken, f"{known}(", ")"))
    return (*edits, *extra) if edits else ()


def _is_named(target: ast.expr, name: str) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return any(_is_named(part, name) for part in target.elts)
    return (isinstance(target, ast.Name) and target.id == name) or (
        isinstance(target, ast.Attribute) and target.attr == name
    )
