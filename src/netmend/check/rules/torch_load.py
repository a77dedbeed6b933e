"""Files that torch.load reads whole, or as code."""

from __future__ import annotations

import ast

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule, mended
from netmend.library.versions import reached
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Collection, Const, Item, Value, constant, resolved
from netmend.program.meaning.operations import walk
from netmend.program.meaning.removed_symbols import is_chosen_by_version
from netmend.program.meaning.roles import MODEL, role, same
from netmend.program.meaning.statements import argument_node
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

# Functions that write a download to a file: the place of the file's name among the arguments.
_WRITE = {
    "urllib.request.urlretrieve": ("filename", 1), "torch.hub.download_url_to_file": ("dst", 1), "gdown.download": ("output", 1),
    "wget.download": ("out", 1),
}  # fmt: skip
_GIVE = ("huggingface_hub.hf_hub_download", "huggingface_hub.cached_download", "gdown.download", "wget.download", "requests.get",
         "urllib.request.urlopen", "transformers.utils.cached_file")  # fmt: skip


class DownloadLoadedAsCode(StaticRule, code="S708", cause="API-USAGE"):
    """A downloaded file is opened by `torch.load` with `weights_only=False`.

    Such a file may hold any Python code, and `torch.load` then runs it: whoever can change the file owns the machine.

    Leave `weights_only` at True (the default since torch 2.6), or use safetensors. Where the file holds whole objects, load a state
    dict in its place, or allow their classes by `torch.serialization.add_safe_globals`. Files that the program wrote itself are left
    alone.
    """

    message = "torch.load runs any code in this downloaded file; load it with weights_only=True."
    triggers = ("torch.load", "th.load")

    GOOD = (
        Snippet("weights only", "import torch\nimport urllib.request\n\nurllib.request.urlretrieve(url, 'net.pt')\nstate = torch.load('net.pt', weights_only=True)\n"),
        Snippet("an own checkpoint", "import torch\n\nstate = torch.load('checkpoints/last.pt', weights_only=False)\n"),
    )  # fmt: skip
    BAD = (
        mended("a download", "import torch\nimport urllib.request\n\ndef main(args):\n    urllib.request.urlretrieve(args.url, args.save)\n"
                "    return torch.load(args.save, weights_only=⟨False → True⟩)\n"),
        Snippet("from a hub", "import torch\nfrom huggingface_hub import hf_hub_download\n\npath = hf_hub_download(repo, 'net.bin')\n"
                "state = torch.load(path, map_location='cpu', weights_only=False)\n", line=5),
        Snippet("from the answer", "import io\nimport requests\nimport torch\n\nanswer = requests.get(url)\nnet = torch.load(io.BytesIO(answer.content), weights_only=False)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of("torch.load"):
            call = event.call
            if call.open or not call.args or not _runs_code(call):
                continue
            if _is_downloaded(program, event, call.args[0]):
                edits = replace(program, argument_node(call.node, "weights_only"), "True")
                yield self.finding(program, event.node, fix=Fix("Load weights only", edits))


def _runs_code(call: Call) -> bool:
    given = call.keywords.get("weights_only")
    if given is None:
        return not reached("torch", "2.6")
    return constant(given, True) is False


def _is_downloaded(program: Program, event: Event, path: Value) -> bool:
    if any(isinstance(part, Call) and part.qualified in _GIVE for part in walk(path)):
        return True
    for name, (keyword, position) in _WRITE.items():
        for other in program.calls_of(name):
            target = other.call.argument(keyword, position)
            if target is not None and other.order < event.order and _means(target, path):
                return True
    return False


def _means(one: Value, other: Value) -> bool:
    one, other = resolved(one), resolved(other)
    if isinstance(one, Const) and isinstance(other, Const):
        return bool(one.value == other.value)
    return one is other or (isinstance(one, Attribute) and same(one, other))


MODEL_HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 2))\n"


class WholeModelLoaded(StaticRule, code="S727", cause="API-USAGE"):
    """A whole model is loaded by `torch.load` without `weights_only=False`.

    Since torch 2.6 `torch.load` reads weights only and refuses a pickled model: the program stops when it wants to use what it trained.

    Save `model.state_dict()` and load it into a new model. For a file that is known to be harmless, `weights_only=False` also works.
    """

    message = "Since torch 2.6, torch.load rejects whole models; save and load model.state_dict(), or pass weights_only=False for a file you trust."
    triggers = (".load(",)
    needs = "torch"
    patterns = (r"\bload\(",)

    GOOD = (
        Snippet("weights", MODEL_HEAD + "torch.save(net.state_dict(), 'net.pt')\nnet.load_state_dict(torch.load('net.pt'))\nnet.eval()\n"),
        Snippet("allowed", MODEL_HEAD + "torch.save(net, 'net.pt')\nagain = torch.load('net.pt', weights_only=False)\nagain.eval()\n"),
        Snippet("another file", MODEL_HEAD + "torch.save(net, 'net.pt')\nstate = torch.load('old.pt')\n"),
        Snippet("classes are named", MODEL_HEAD + "torch.serialization.add_safe_globals([nn.Sequential, nn.Linear])\ntorch.save(net, 'net.pt')\nagain = torch.load('net.pt')\n"),
        Snippet("tried first", "import torch\n\ntry:\n    net = torch.load(path)\n    net.eval()\nexcept Exception:\n    net = None\n"),
    )  # fmt: skip
    BAD = (
        Snippet("saved and loaded", MODEL_HEAD + "torch.save(net, 'net.pt')\nagain = torch.load('net.pt')\nprint(again(x))\n", line=6),
        Snippet("used as a model", "import torch as t\n\ndef predict(path, x):\n    model = t.load(path, map_location='cpu')\n    model.eval()\n    with t.no_grad():\n        return model(x)\n", line=4),
        Snippet("path in a variable", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 2)\n\n"
                "def main(path='best.pth'):\n    net = Net()\n    torch.save(net, path)\n    best = torch.load(path)\n    return best\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if not reached("torch", "2.6") or "safe_globals" in program.text:
            return
        loads = [(event, event.call) for event in program.calls_of("torch.load") if _is_plain(event.call)]
        if not loads:
            return
        saved = [event for event in program.calls_of("torch.save") if _is_model(event.call)]
        used = {id(resolved(event.call.receiver)) for event in program.methods_of("eval", "parameters", "named_parameters")
                if event.call.receiver is not None and not event.call.args}  # fmt: skip
        for event, call in loads:
            if call is None or is_chosen_by_version(program, event.node):
                continue
            path = call.argument("f", 0)
            writer = next((save for save in saved if save.call is not None and _is_same_path(save.call.argument("f", 1), path)), None)  # fmt: skip
            if writer is not None:
                yield self.finding(program, event.node, see=[("The whole model is saved here.", writer.node)])
            elif id(call) in used:
                yield self.finding(program, event.node)


def _is_plain(call: Call | None) -> bool:
    return call is not None and not call.open and not {"weights_only", "pickle_module"} & call.keywords.keys()


def _is_model(call: Call | None) -> bool:
    given = call.argument("obj", 0) if call is not None else None
    return given is not None and role(given) == MODEL


def _is_same_path(one: Value | None, other: Value | None) -> bool:
    if one is None or other is None:
        return False
    written = [
        ast.dump(value.node) for value in (one, other) if isinstance(value.node, ast.Constant | ast.JoinedStr)
    ]
    return same(one, other) or (len(written) == 2 and written[0] == written[1])


CHECKPOINT_HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"
SAVED = "torch.save({'model': net.state_dict(), 'epoch': 3}, 'c.pt')\n"


class CheckpointLoadedWhole(StaticRule, code="S730", cause="TRN-CKPT"):
    """The file holds a dict with the weights under a key, and `load_state_dict` is given the whole dict (or the other way round).

    No name in the dict fits a parameter: the program stops with "Missing key(s)", or, with `strict=False`, goes on with random weights.

    Load what was saved: `model.load_state_dict(checkpoint["model"])`.
    """

    message = 'The file was saved as a dict with the weights under "{}"; load checkpoint["{}"].'
    triggers = ("load_state_dict(",)
    needs = "save"
    patterns = (NOWHERE,)

    GOOD = (
        Snippet(
            "by its key",
            CHECKPOINT_HEAD + SAVED + "c = torch.load('c.pt')\nnet.load_state_dict(c['model'])\n",
        ),
        Snippet(
            "saved alone",
            CHECKPOINT_HEAD
            + "torch.save(net.state_dict(), 'c.pt')\nnet.load_state_dict(torch.load('c.pt'))\n",
        ),
        Snippet("another file", CHECKPOINT_HEAD + SAVED + "net.load_state_dict(torch.load('d.pt'))\n"),
    )
    BAD = (
        Snippet("whole", CHECKPOINT_HEAD + SAVED + "c = torch.load('c.pt')\nnet.load_state_dict(c)\n", line=7),
        Snippet("at once", CHECKPOINT_HEAD + "path = 'best.pth'\ntorch.save(dict(state_dict=net.state_dict()), path)\nagain = nn.Linear(4, 2)\nagain.load_state_dict(torch.load(path), strict=False)\n", line=8),
        Snippet("a key that is not there", CHECKPOINT_HEAD + "torch.save(net.state_dict(), 'c.pt')\nc = torch.load('c.pt')\nnet.load_state_dict(c['model'])\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        saves = [(event, event.call) for event in program.calls_of("torch.save")]
        for event in program.methods_of("load_state_dict") if saves else ():
            given = event.call.argument("state_dict", 0)
            given = resolved(given)
            key = _key(given)
            source = resolved(given.base) if isinstance(given, Item) and key else given
            if not isinstance(source, Call) or source.qualified != "torch.load":
                continue
            path = source.argument("f", 0)
            writers = [
                (save, call) for save, call in saves if _is_same_constant_path(call.argument("f", 1), path)
            ]
            if len(writers) != 1:
                continue
            save, call = writers[0]
            saved = _weights_key(call.argument("obj", 0))
            if saved and not key:
                yield self.finding(
                    program,
                    event.node,
                    self.message.format(saved, saved),
                    see=[("It is saved here.", save.node)],
                )
            elif key and _is_state(call.argument("obj", 0)):
                text = f'The file was saved as the weights alone and has no "{key}"; load it without the key.'
                yield self.finding(program, event.node, text, see=[("It is saved here.", save.node)])


def _key(value: Value | None) -> str:
    key = getattr(value, "key", None)
    return key.value if isinstance(key, Const) and isinstance(key.value, str) else ""


def _is_state(value: Value | None) -> bool:
    value = resolved(value)
    return isinstance(value, Call) and value.method == "state_dict"


def _weights_key(value: Value | None) -> str:
    """The key under which a written dict holds the weights of a model."""
    value = resolved(value)
    entries: list[tuple[object, Value]] = []
    if isinstance(value, Collection) and value.kind == "dict" and not value.open:
        entries = [
            (getattr(key, "value", None), item)
            for key, item in zip(value.keys or (), value.items, strict=False)
        ]
    elif isinstance(value, Call) and value.qualified == "dict" and not value.args and not value.open:
        entries = list(value.keywords.items())
    return next((str(key) for key, item in entries if isinstance(key, str) and _is_state(item)), "")


def _is_same_constant_path(one: Value | None, other: Value | None) -> bool:
    if one is None or other is None:
        return False
    written = [ast.dump(value.node) for value in (one, other) if isinstance(value.node, ast.Constant)]
    return same(one, other) or (len(written) == 2 and written[0] == written[1])
