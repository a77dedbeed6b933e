"""The symbolic evaluation: what reaches a call, in which order things happen, and what is left open."""

from __future__ import annotations

import ast
from pathlib import Path

from netmend.program.engine.history import Event, Loop, always, before, common_loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Instance,
    Param,
    Unknown,
    constant,
    options,
    resolved,
)
from netmend.program.meaning.operations import operation, origins
from netmend.program.meaning.roles import optimised, role


def program(source: str, path: str = "example.py") -> Program:
    return Program(source, path, ast.parse(source))


def given(source: str, path: str = "example.py") -> object:
    """The value that reaches the first argument of the last call of `show`."""
    calls = [event.call for event in program(source, path).calls if event.call and shown(event.call)]
    return resolved(calls[-1].args[0])


def shown(call: Call) -> bool:
    return bool(call.node) and isinstance(call.node.func, ast.Name) and call.node.func.id == "show"


def test_aliases_are_resolved() -> None:
    for header in ("import torch.nn as nn", "from torch import nn", "import torch\nnn = torch.nn"):
        value = given(f"{header}\nshow(nn.Linear(4, 3))")
        assert isinstance(value, Call) and value.qualified == "torch.nn.Linear"
    value = given("from tensorflow.keras.layers import Dense\nshow(Dense(3))")
    assert isinstance(value, Call) and value.qualified == "keras.layers.Dense"
    value = given("from torch.nn import *\nshow(Linear(4, 3))")
    assert isinstance(value, Call) and value.qualified == "torch.nn.Linear"


def test_constants_are_computed() -> None:
    assert constant(given("a = 16\nb = a * 5 * 5\nshow(b)")) == 400
    assert constant(given("show(-1 if not False else 2)")) == -1
    assert isinstance(given("show(10 ** 10 ** 10)"), object)  # no endless power


def test_branches_join() -> None:
    value = given("if flag:\n    a = 1\nelse:\n    a = 2\nshow(a)")
    assert isinstance(value, Either) and [constant(option) for option in value.options] == [1, 2]
    assert constant(given("a = 1\nif flag:\n    raise ValueError\n    a = 2\nshow(a)")) == 1
    assert constant(given("a = 1\nif True:\n    a = 2\nshow(a)")) == 2


def test_loops_leave_their_variables_open_on_entry() -> None:
    value = given("a = 1\nfor i in data:\n    show(a)\n    a = 2\n")
    assert any(isinstance(option, Unknown) for option in options(value))
    value = given("a = 1\nfor i in data:\n    a = 2\nshow(a)\n")
    assert sorted(constant(option) for option in options(value)) == [1, 2]


def test_functions_are_followed() -> None:
    assert constant(given("def f(a, b=2, *, c=3):\n    return b\nshow(f(1))")) == 2
    assert constant(given("def f(a, b=2):\n    return b\nshow(f(1, b=5))")) == 5
    assert constant(given("def f(*a, **k):\n    return k['x']\nshow(f(x=7))")) == 7
    assert constant(given("add = lambda a: a + 1\nshow(add(1))")) == 2
    value = given("def f(a):\n    if a > x:\n        return 1\n    return 2\nshow(f(y))")
    assert sorted(constant(option) for option in options(value)) == [1, 2]


def test_recursion_ends() -> None:
    assert program("def f(n):\n    return f(n - 1)\nf(3)").entries[0].complete
    assert program("def f(n):\n    return g(n)\ndef g(n):\n    return f(n)\nf(3)").entries[0].complete


def test_instances_keep_attributes() -> None:
    source = """
class Base:
    def __init__(self, size):
        self.size = size
        if size > other:
            self.kind = "a"
        else:
            self.kind = "b"

class Derived(Base):
    scale = 2
    def __init__(self):
        super().__init__(4)
        self.both = self.size * self.scale

    @property
    def twice(self):
        return self.both * 2

one = Derived()
"""
    assert constant(given(source + "show(one.twice)")) == 16
    value = given(source + "show(one.kind)")
    assert [constant(option) for option in options(value)] == ["a", "b"]
    assert isinstance(given(source + "show(one)"), Instance)


def test_models_are_expanded() -> None:
    source = """
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, width), nn.ReLU())
        self.body.append(nn.Linear(width, 3))
    def forward(self, x):
        return F.log_softmax(self.body(x), dim=1)
net = Net(8).to("cuda")
show(net(x).squeeze())
"""
    (origin,) = origins(given(source))
    op = operation(origin)
    assert op is not None and op.name == "log_softmax" and constant(op.option("dim")) == 1
    inner = operation(resolved(op.inputs[0]))
    assert inner is not None and inner.name == "linear" and constant(inner.option("in_features", 0)) == 8


def test_other_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("from .model import Net\n")
    (tmp_path / "parts" / "model.py").write_text(
        "WIDTH = 7\nclass Net:\n    def __init__(self):\n        self.width = WIDTH\n"
    )
    main = tmp_path / "main.py"
    source = "from parts import Net\nimport parts.model as m\nshow(Net().width)\n"
    assert constant(given(source, str(main))) == 7
    assert constant(given("import parts\nshow(parts.Net().width)", str(main))) == 7
    assert constant(given("from parts.model import *\nshow(WIDTH)", str(main))) == 7


def test_names_of_frameworks_are_never_followed(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("nn = 5\n")
    value = given("from torch import nn\nshow(nn.Linear(1, 2))", str(tmp_path / "main.py"))
    assert isinstance(value, Call) and value.qualified == "torch.nn.Linear"


def events(source: str) -> dict[str, Event]:
    """Calls of plain names, by name."""
    found = {}
    for event in program(source).calls:
        node = event.call.node if event.call else None
        if node is not None and isinstance(node.func, ast.Name):
            found[node.func.id] = event
    return found


def test_order_and_paths() -> None:
    seen = events("for i in x:\n    a()\n    if i:\n        b()\n    c()\n    with d():\n        e()\n")
    assert before(seen["a"], seen["b"]) and before(seen["a"], seen["c"])
    assert not before(seen["b"], seen["c"]) and not before(seen["c"], seen["a"])
    loop = seen["a"].loops()[0]
    assert always(seen["e"], loop) and not always(seen["b"], loop)
    assert common_loop(seen["a"], seen["e"]) is loop


def test_events_of_followed_functions_stand_in_the_callers_loop() -> None:
    source = "def work():\n    inner()\nfor i in x:\n    work()\n"
    assert isinstance(events(source)["inner"].loops()[0], Loop)


def test_early_exits_do_not_hide_what_came_before() -> None:
    seen = events("for i in x:\n    a()\n    if i:\n        continue\n    b()\n")
    assert before(seen["a"], seen["b"])


def test_functions_without_a_caller_have_open_parameters() -> None:
    entries = program("def train(model, rate=0.1):\n    show(model)\n").entries
    assert [entry.name for entry in entries] == ["<file>", "train"]
    call = next(event.call for event in entries[1].block.events() if event.call)
    assert isinstance(call.args[0], Param) and call.args[0].name == "model"


def test_lists_that_grow() -> None:
    value = given("a = []\na.append(1)\na += [2]\nshow(a)")
    assert isinstance(value, Collection) and len(value.items) == 2 and not value.open
    value = given("a = []\nfor i in x:\n    a.append(1)\nshow(a)")
    assert isinstance(value, Collection) and value.open


def test_roles_and_parameters() -> None:
    source = """
import itertools, torch
from torch import nn
a, b = nn.Linear(1, 1), nn.Linear(1, 1)
opt = torch.optim.Adam(itertools.chain(a.parameters(), b.parameters()))
show(opt)
"""
    value = given(source)
    assert isinstance(value, Call) and role(value) == "optimiser"
    owners = optimised(value)
    assert owners is not None and len(owners) == 2


def test_unpacking_and_elements() -> None:
    value = given("for i, (x, y) in enumerate(loader):\n    show(x)\n")
    assert not isinstance(value, Const)
    assert constant(given("a, (b, c) = 1, (2, 3)\nshow(c)")) == 3


def test_hostile_sources_end() -> None:
    deep = "x = " + "(" * 80 + "1" + ")" * 80
    wide = (
        "\n".join(f"def f{i}(a):\n    return f{i - 1}(a), f{i - 1}(a)" for i in range(1, 40)) + "\nf39(1)\n"
    )
    for source in (deep, wide, "while True:\n    pass\n", "x = x\nx()\n", "class A(A):\n    pass\nA()\n"):
        assert program(source).entries


def test_a_model_wrapped_on_one_path_is_still_followed() -> None:
    source = """
from torch import nn
net = nn.Sequential(nn.Linear(4, 3))
if many:
    net = nn.DataParallel(net)
show(net(x))
"""
    op = operation(given(source))
    assert op is not None and op.name == "linear"


def test_a_tuple_that_a_function_returns_is_spread() -> None:
    assert (
        constant(
            given("def pair():\n    return 1, 2\ndef second(a, b):\n    return b\nshow(second(*pair()))")
        )
        == 2
    )


def test_launchers_give_back_what_they_are_given() -> None:
    source = """
import torch
from accelerate import Accelerator
from torch import nn
accelerator = Accelerator()
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net, opt = accelerator.prepare(net, opt)
show(opt)
"""
    value = given(source)
    assert isinstance(value, Call) and role(value) == "optimiser"


def test_the_end_of_a_stack_that_grew_in_a_loop_is_known() -> None:
    source = """
from torch import nn
def build(sizes):
    layers = []
    for a, b in sizes:
        layers += [nn.Linear(a, b), nn.ReLU()]
    layers.append(nn.Linear(8, 3))
    layers.append(nn.Softmax(dim=1))
    return nn.Sequential(*layers)
show(build(sizes)(x))
"""
    op = operation(given(source))
    assert op is not None and op.name == "softmax"
    inner = operation(resolved(op.inputs[0]))
    assert inner is not None and inner.name == "linear"
    maybe = source.replace(
        "    layers.append(nn.Softmax(dim=1))", "    if x:\n        layers.append(nn.Softmax(dim=1))"
    )
    unknown = operation(given(maybe))
    assert unknown is not None and unknown.name == "sequential"
