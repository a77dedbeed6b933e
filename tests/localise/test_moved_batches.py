"""A batch that is only moved to a device is followed to where it comes from."""

from __future__ import annotations

from pathlib import Path

from netmend.localise.case import Case
from netmend.localise.lines.data_lines import input_origin
from netmend.program.text.sources import Sources
from netmend.vocabulary import ModelFact, Site, Trace

PROGRAM = """\
def train(model, device, train_loader):
    for step, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        output = model(data)

def main():
    data = datasets.MNIST("data", transform=transforms.ToTensor())
    train_loader = DataLoader(data, batch_size=64)
    train(Net(), "cpu", train_loader)
"""


def test_a_batch_that_is_moved(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PROGRAM, encoding="utf-8")
    model = ModelFact("model", "Net", called=Site("main.py", 4, 17, 4, 28))
    trace = Trace(facts={"model": {"model": model}})
    case = Case(trace, sources=Sources(str(tmp_path), "main.py"))
    site = input_origin(case)
    assert site is not None and site.line == 7
