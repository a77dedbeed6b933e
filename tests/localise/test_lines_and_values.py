"""What is read from the user's source: blocks without gradients, frozen parts, cuts, kept and unused values."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.localise.lines import blocks as lines
from netmend.localise.lines import values
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

PROGRAM = """
class Net(nn.Module):
    def __init__(self):
        self.layers = [nn.Linear(2, 2)]  # <- list
        self.scale = torch.ones(1, requires_grad=True)  # <- scale

    @torch.no_grad()  # <- decorator
    def features(self, x):
        return self.body(x)  # <- inside the decorated one

    def forward(self, x):
        with torch.no_grad():  # <- block
            a = self.one(x)  # <- in the block
        b = self.two(x)  # <- never read
        c = self.three(x)  # <- overwritten
        c = self.four(a)  # <- read
        d = c.detach()  # <- cut
        return self.five(d)  # <- last


def make():
    return Net()  # <- made


for p in net.head.parameters():
    p.requires_grad = False  # <- frozen head
for p in net.body.parameters():
    p.requires_grad_(False)  # <- frozen body
for epoch in range(3):
    net = make()  # <- called
    for x in data:
        out = net(x)
        loss = ce(out, y) + aux.item()  # <- term
        loss.backward(retain_graph=True)  # <- backward
        total += loss  # <- kept
        outputs.append(out)  # <- collected
"""


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    return Sources(str(tmp_path), "train.py")


def at(mark: str) -> Site:
    (number,) = [n for n, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith(f"# <- {mark}")]
    return Site("train.py", number)


def line(site: Site | None) -> int | None:
    return None if site is None else site.line


def test_gradients_switched_off(sources):
    assert line(lines.no_grad_around(sources, at("in the block"))) == at("block").line
    assert line(lines.no_grad_around(sources, at("inside the decorated one"))) == at("decorator").line
    assert lines.no_grad_around(sources, at("read")) is None


def test_frozen_parts_are_told_apart_by_what_they_freeze(sources):
    assert line(lines.freezing(sources, "train.py", ("body",))) == at("frozen body").line
    assert line(lines.freezing(sources, "train.py", ("head",))) == at("frozen head").line


def test_values_that_are_not_used(sources):
    assert values.unused_result(sources, at("never read")) == "b"
    assert values.unused_result(sources, at("overwritten")) == "c"
    assert values.unused_result(sources, at("read")) == ""


def test_cuts(sources):
    assert line(values.cuts_between(sources, at("read"), at("last"))) == at("cut").line
    assert line(values.cut_in_loss(sources, at("backward"))) == at("term").line


def test_kept_graphs(sources):
    assert line(values.keeping(sources, at("backward"))) == at("kept").line
    assert line(values.collecting(sources, at("backward"))) == at("collected").line
    assert lines.retains_graph(sources, at("backward"))


def test_where_things_are_made(sources):
    assert [site.line for site in lines.plain_containers(sources, "train.py")] == [at("list").line]
    detail = {"class": "Net", "attribute": "scale"}
    assert line(lines.attribute_line(sources, "train.py", detail)) == at("scale").line
    assert line(lines.called_in_loop(sources, at("made"))) == at("called").line


def test_nothing_is_found_in_a_file_that_is_not_there(sources):
    nowhere = Site("gone.py", 3)
    assert lines.no_grad_around(sources, nowhere) is None
    assert values.keeping(sources, nowhere) is None
    assert values.unused_result(sources, None) == ""
