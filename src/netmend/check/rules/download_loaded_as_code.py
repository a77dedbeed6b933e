from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.library.versions import reached
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Const, Value, constant, resolved
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

# Functions that write a download to a file: the place of the file's name among the arguments.
_WRITE = {
    "urllib.request.urlretrieve": ("filename", 1), "torch.hub.download_url_to_file": ("dst", 1), "gdown.download": ("output", 1),
    "wget.download": ("out", 1),
}  # fmt: skip
_GIVE = ("huggingface_hub.hf_hub_download", "huggingface_hub.cached_download", "gdown.download", "wget.download", "requests.get",
         "urllib.request.urlopen", "transformers.utils.cached_file")  # fmt: skip


@register
class DownloadLoadedAsCode(StaticRule):
    """A downloaded file is opened by `torch.load` with `weights_only=False`.

    Such a file may hold any Python code, and `torch.load` then runs it: whoever can change the file owns the machine.

    Leave `weights_only` at True (the default since torch 2.6), or use safetensors. Where the file holds whole objects, load a state
    dict in its place, or allow their classes by `torch.serialization.add_safe_globals`. Files that the program wrote itself are left
    alone.
    """

    code = "S708"
    cause = "API-USAGE"
    message = "torch.load runs any code in this downloaded file; load it with weights_only=True."
    triggers = ("torch.load", "th.load")

    GOOD = (
        Snippet("weights only", "import torch\nimport urllib.request\n\nurllib.request.urlretrieve(url, 'net.pt')\nstate = torch.load('net.pt', weights_only=True)\n"),
        Snippet("an own checkpoint", "import torch\n\nstate = torch.load('checkpoints/last.pt', weights_only=False)\n"),
        Snippet("a path of unknown origin", "import torch\n\ndef resume(path):\n    return torch.load(path, weights_only=False)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a download", "import torch\nimport urllib.request\n\ndef main(args):\n    urllib.request.urlretrieve(args.url, args.save)\n"
                "    return torch.load(args.save, weights_only=False)\n", line=6,
                fixed="import torch\nimport urllib.request\n\ndef main(args):\n    urllib.request.urlretrieve(args.url, args.save)\n"
                "    return torch.load(args.save, weights_only=True)\n"),
        Snippet("from a hub", "import torch\nfrom huggingface_hub import hf_hub_download\n\npath = hf_hub_download(repo, 'net.bin')\n"
                "state = torch.load(path, map_location='cpu', weights_only=False)\n", line=5),
        Snippet("from the answer", "import io\nimport requests\nimport torch\n\nanswer = requests.get(url)\nnet = torch.load(io.BytesIO(answer.content), weights_only=False)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of("torch.load"):
            call = event.call
            if call is None or call.open or not call.args or not _runs_code(call):
                continue
            if _is_downloaded(program, event, call.args[0]):
                node = call.node
                keyword = (
                    next((part for part in node.keywords if part.arg == "weights_only"), None)
                    if node
                    else None
                )
                edits = replace(program, keyword.value, "True") if keyword is not None else ()
                yield self.finding(
                    program, event.node, fix=Fix("Load weights only", edits) if edits else None
                )


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
            target = other.call.argument(keyword, position) if other.call is not None else None
            if target is not None and other.order < event.order and _means(target, path):
                return True
    return False


def _means(one: Value, other: Value) -> bool:
    one, other = resolved(one), resolved(other)
    if isinstance(one, Const) and isinstance(other, Const):
        return bool(one.value == other.value)
    return one is other or (isinstance(one, Attribute) and same(one, other))
