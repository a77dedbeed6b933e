"""The line that sets the batch size, where batches are cut by hand."""

from __future__ import annotations

import textwrap

import pytest

from netmend.localise.case import Case
from netmend.localise.lines.data_lines import batch_size_line
from netmend.program.text.sources import Sources
from netmend.vocabulary import LoaderFact, ModelFact, Site, Trace

PROGRAMS = {
    "a range": """\
        size = 640  # here
        for epoch in range(9):
            for i in range(0, len(x), size):
                out = model(x[i:i + size])  # model
        """,
    "pieces of an order": """\
        config = {
            "lr": 0.1,
            "batch": 400,  # here
        }
        for epoch in range(9):
            for rows in torch.randperm(400).split(config["batch"]):
                out = model(x[rows])  # model
        """,
    "a function of torch, behind a progress bar": """\
        for rows in tqdm(torch.split(order, 512)):  # here
            out = model(x[rows])  # model
        """,
    "a parameter of the function": """\
        def train(epochs=4, size=300):  # here
            for epoch in range(epochs):
                for i in range(0, 300, size):
                    out = model(x[i:i + size])  # model
        train()
        """,
    "all at once: the loop": """\
        for epoch in range(20):  # here
            out = model(x)  # model
        """,
}


def line(text: str, mark: str) -> int:
    return next(number for number, each in enumerate(text.splitlines(), 1) if mark in each)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_the_number_that_cuts_batches_is_found(text, tmp_path):
    text = textwrap.dedent(text)
    (tmp_path / "train.py").write_text(text)
    model = ModelFact("model", "Net", called=Site("train.py", line(text, "# model"), 0))
    case = Case(Trace({"model": {"model": model}}), sources=Sources(str(tmp_path), "train.py"))
    found = batch_size_line(case)
    assert found is not None and found.line == line(text, "# here")


def test_a_loader_is_followed_to_its_argument(tmp_path):
    text = "SIZE = 900\nloader = DataLoader(data, shuffle=True, batch_size=SIZE)\n"
    (tmp_path / "train.py").write_text(text)
    loader = LoaderFact("loader", batch_size=900, phase="training", created=Site("train.py", 2, 9))
    case = Case(Trace({"loader": {"loader": loader}}), sources=Sources(str(tmp_path), "train.py"))
    found = batch_size_line(case)
    assert found is not None and found.line == 1
