from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Value, resolved
from netmend.program.meaning.roles import same
from netmend.vocabulary.finding import Finding, Related

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"
SAVED = "torch.save({'model': net.state_dict(), 'epoch': 3}, 'c.pt')\n"


@register
class CheckpointLoadedWhole(StaticRule):
    """The file holds a dict with the weights under a key, and `load_state_dict` is given the whole dict (or the other way round).

    No name in the dict fits a parameter: the program stops with "Missing key(s)", or, with `strict=False`, goes on with random weights.

    Load what was saved: `model.load_state_dict(checkpoint["model"])`.
    """

    code = "S730"
    cause = "TRN-CKPT"
    message = 'The file was saved as a dict with the weights under "{}"; load checkpoint["{}"].'
    triggers = ("load_state_dict(",)
    needs = "save"
    patterns = (r"(?!)",)

    GOOD = (
        Snippet("by its key", HEAD + SAVED + "c = torch.load('c.pt')\nnet.load_state_dict(c['model'])\n"),
        Snippet(
            "saved alone",
            HEAD + "torch.save(net.state_dict(), 'c.pt')\nnet.load_state_dict(torch.load('c.pt'))\n",
        ),
        Snippet("another file", HEAD + SAVED + "net.load_state_dict(torch.load('d.pt'))\n"),
    )
    BAD = (
        Snippet("whole", HEAD + SAVED + "c = torch.load('c.pt')\nnet.load_state_dict(c)\n", line=7),
        Snippet("at once", HEAD + "path = 'best.pth'\ntorch.save(dict(state_dict=net.state_dict()), path)\nagain = nn.Linear(4, 2)\nagain.load_state_dict(torch.load(path), strict=False)\n", line=8),
        Snippet("a key that is not there", HEAD + "torch.save(net.state_dict(), 'c.pt')\nc = torch.load('c.pt')\nnet.load_state_dict(c['model'])\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        saves = [(event, event.call) for event in program.calls_of("torch.save") if event.call is not None]
        for event in program.methods_of("load_state_dict") if saves else ():
            given = event.call.argument("state_dict", 0) if event.call is not None else None
            given = resolved(given) if given is not None else None
            key = _key(given)
            source = resolved(given.base) if isinstance(given, Item) and key else given
            if not isinstance(source, Call) or source.qualified != "torch.load":
                continue
            path = source.argument("f", 0)
            writers = [(save, call) for save, call in saves if _is_same_file(call.argument("f", 1), path)]
            if len(writers) != 1:
                continue
            save, call = writers[0]
            place = program.place(save.node)
            related = (Related("It is saved here.", place.file, place.line, place.column),)
            saved = _weights_key(call.argument("obj", 0))
            if saved and not key:
                yield self.finding(program, event.node, self.message.format(saved, saved), related=related)
            elif key and _is_state(call.argument("obj", 0)):
                text = f'The file was saved as the weights alone and has no "{key}"; load it without the key.'
                yield self.finding(program, event.node, text, related=related)


def _key(value: Value | None) -> str:
    key = getattr(value, "key", None)
    return key.value if isinstance(key, Const) and isinstance(key.value, str) else ""


def _is_state(value: Value | None) -> bool:
    value = resolved(value) if value is not None else None
    return isinstance(value, Call) and value.method == "state_dict"


def _weights_key(value: Value | None) -> str:
    """The key under which a written dict holds the weights of a model."""
    value = resolved(value) if value is not None else None
    entries: list[tuple[object, Value]] = []
    if isinstance(value, Collection) and value.kind == "dict" and not value.open:
        entries = [
            (getattr(key, "value", None), item)
            for key, item in zip(value.keys or (), value.items, strict=False)
        ]
    elif isinstance(value, Call) and value.qualified == "dict" and not value.args and not value.open:
        entries = list(value.keywords.items())
    return next((str(key) for key, item in entries if isinstance(key, str) and _is_state(item)), "")


def _is_same_file(one: Value | None, other: Value | None) -> bool:
    if one is None or other is None:
        return False
    written = [ast.dump(value.node) for value in (one, other) if isinstance(value.node, ast.Constant)]
    return same(one, other) or (len(written) == 2 and written[0] == written[1])
