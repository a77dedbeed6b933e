"""Tensors on the wrong device."""

from __future__ import annotations

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import CallEvent, Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Value, resolved
from netmend.program.meaning.models import called_model, is_wrapped, moves, moves_inside
from netmend.program.meaning.number_types import loader_part
from netmend.program.meaning.operations import LAYOUT, origins, walk

_STAY = LAYOUT - {"to", "cuda", "cpu", "type", "type_as", "xpu", "mps", "identity"}
HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(784, 10).to(device)
"""
DATA = "from torchvision import datasets, transforms\nloader = DataLoader(datasets.MNIST('data', transform=transforms.ToTensor()), batch_size=64)\n"


class BatchOnOtherDevice(StaticRule, code="S705", cause="GPU-XFER-MISSING"):
    """The model was moved to a device, the batch goes into it as it comes from the loader.

    A loader yields tensors in main memory. On a machine with a GPU the first step stops with "expected all tensors to be on the same
    device"; on one without it seems to work.

    Move the batch too: `x, y = x.to(device), y.to(device)`.
    """

    message = "The model is on the device, this batch is not; move it with .to(device) first."
    triggers = (".to(", ".cuda(")
    patterns = (r"\.backward\(", "oader")

    GOOD = (
        Snippet("moved", HEAD + DATA + "for x, y in loader:\n    x, y = x.to(device), y.to(device)\n    loss = nn.functional.cross_entropy(model(x), y)\n"),
        Snippet("on the CPU", "from torch import nn\nfrom torch.utils.data import DataLoader\nmodel = nn.Linear(4, 2).to('cpu')\n"
                "for x, y in DataLoader(data):\n    out = model(x)\n    y = y.to('cpu')\n"),
        Snippet("a type, no device", "import torch\nfrom torch import nn\nmodel = nn.Linear(4, 2).to(torch.float64)\ndef run(loader, device):\n"
                "    for x, y in loader:\n        y = y.to(device)\n        out = model(x)\n"),
        Snippet("data that lies there already", HEAD + "from torch.utils.data import TensorDataset\nset = TensorDataset(x.to(device), y.to(device))\n"
                "for a, b in DataLoader(set):\n    out = model(a)\n"),
        Snippet("parallel models move their input", HEAD + DATA + "model = nn.DataParallel(model)\nfor x, y in loader:\n    y = y.to(device)\n    out = model(x)\n"),
        Snippet("the model moves its input", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.fc = nn.Linear(4, 2)\n\n    def forward(self, x):\n        return self.fc(x.to(self.fc.weight.device))\n\nnet = Net().cuda()\n"
                "def run(loader):\n    for x, y in loader:\n        y = y.cuda()\n        out = net(x)\n"),
        Snippet("lengths stay", "import torch\nfrom torch import nn\nfrom torch.nn.utils.rnn import pack_padded_sequence\n\nclass Tagger(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.rnn = nn.LSTM(4, 2)\n\n    def forward(self, x, lengths):\n        return self.rnn(pack_padded_sequence(x, lengths))[0]\n\n"
                "net = Tagger().cuda()\ndef run(loader):\n    for x, lengths in loader:\n        x = x.cuda()\n        out = net(x, lengths)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("only the labels are moved", HEAD + "def train(loader):\n    for x, y in loader:\n        y = y.to(device)\n        out = model(x)\n"
                "        loss = nn.functional.cross_entropy(out, y)\n", line=10),
        Snippet("a data set of torchvision", HEAD + DATA + "for x, y in loader:\n    out = model(x.view(-1, 784))\n", line=10),
        Snippet("cuda()", "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset\nnet = nn.Linear(4, 2)\nnet.cuda()\n"
                "set = TensorDataset(torch.randn(100, 4), torch.randn(100, 2))\nfor a, b in DataLoader(set, batch_size=10):\n    out = net(a)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        moved = moves(program)
        if not moved or "set_default_device" in program.text or "set_default_tensor_type" in program.text:
            return
        carried = None
        through = {
            id(event.node)
            for event in program.calls
            if (model := called_model(event)) is not None and is_wrapped(model)
        }
        for event in program.calls:
            model = called_model(event)
            if model is None or id(event.node) in through:
                continue
            move = next(
                (place for place, owner, _ in moved if owner is model and _holds(program, place, event)), None
            )
            if move is None or moves_inside(model):
                continue
            carried = _carried(program) if carried is None else carried
            call = event.call
            for position, given in enumerate(call.args):
                # Behind the first argument may stand lengths or names, which are no tensors or belong where they are.
                if _stays_behind(given, carried if position == 0 else [], carried):
                    yield self.finding(program, event.node, see=[("the model is moved here", move.node)])
                    break


def _holds(program: Program, move: Event, use: Event) -> bool:
    return before(move, use) or (
        program.entry_of(move) is not program.entry_of(use) and program.entry_of(move).kind == "file"
    )


def _stays_behind(
    value: Value, sisters: list[tuple[Value, object]], carried: list[tuple[Value, object]]
) -> bool:
    """Straight from a loader whose batches are in main memory for certain: by its data, or because a sister is moved."""
    found = origins(value, _STAY)
    parts = [loader_part(origin) for origin in found]
    if not parts or any(part is None for part in parts):
        return False
    known = [part for part in parts if part is not None]
    return all(
        _is_in_memory(loader) or any(other is loader and key != position for other, key in sisters)
        for loader, position in known
    ) and not any(other is loader and key == position for loader, position in known for other, key in carried)


def _carried(program: Program) -> list[tuple[Value, object]]:
    """Parts of batches that are moved somewhere."""
    found = []
    for event in program.methods_of("to", "cuda"):
        call = event.call
        part = loader_part(call.receiver)
        if part is not None:
            found.append(part)
    return found


def _is_in_memory(loader: Value) -> bool:
    if not isinstance(loader, Call) or loader.open or "collate_fn" in loader.keywords:
        return False
    data = loader.argument("dataset", 0)
    data = resolved(data)
    if isinstance(data, Item):
        data = resolved(data.base)
    if isinstance(data, Call) and data.qualified == "torch.utils.data.random_split" and data.args:
        data = resolved(data.args[0])
    if not isinstance(data, Call):
        return False
    if data.qualified.startswith("torchvision.datasets."):
        return "transform" in data.keywords and not isinstance(
            resolved(data.keywords["transform"]), Collection
        )
    return data.qualified == "torch.utils.data.TensorDataset" and all(
        _is_made_here(part) for part in data.args
    )


def _is_made_here(value: Value) -> bool:
    """A tensor that the program makes itself, without naming a device."""
    made = [part for part in walk(value) if isinstance(part, Call)]
    return (
        bool(made)
        and not any(
            part.method in ("to", "cuda")
            or "device" in part.keywords
            or (not part.qualified and not part.method)
            for part in made
        )
        and any(part.qualified.startswith("torch.") for part in made)
    )


class DeviceHardCoded(StaticRule, code="S724", cause="GPU-XFER-MISSING", advisory=True):
    """The GPU is named outright, without a look whether there is one.

    The program stops on any machine without CUDA, and cannot be tested there.

    Choose once: `device = "cuda" if torch.cuda.is_available() else "cpu"`, and use `.to(device)` everywhere.
    """

    message = 'The GPU is hard-coded; choose the device once with "cuda" if torch.cuda.is_available() else "cpu", then use .to(device).'
    triggers = ('"cuda', "'cuda", ".cuda()")

    GOOD = (
        Snippet(
            "chosen",
            "import torch\n\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\nnet.to(device)\n",
        ),
        Snippet("left if there is none", "import torch\n\nassert torch.cuda.is_available()\nnet.cuda()\n"),
        Snippet("given from outside", "import torch\n\ndef train(net, device='cuda'):\n    net.to(device)\n"),
    )
    BAD = (
        Snippet("cuda()", "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()\nx = x.cuda()\n", line=3),
        Snippet("a name", "import torch\n\ndevice = torch.device('cuda:0')\nnet.to(device)\n", line=3),
    )

    def check(self, program: Program) -> Findings:
        if "is_available" in program.text or "device_count" in program.text:
            return
        named = [*program.methods_of("cuda", "to"), *program.calls_of("torch.device")]
        for event in sorted(named, key=lambda event: event.order):
            if _is_named(event):
                yield self.finding(program, event.node)
                return


def _is_named(event: CallEvent) -> bool:
    call = event.call
    if call.method == "cuda":
        return not call.args
    first = resolved(call.args[0]) if call.args else None
    return isinstance(first, Const) and isinstance(first.value, str) and first.value.startswith("cuda")
