"""Data is followed from the call of the model to the line that makes it; the epoch loop to the number of its rounds."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from netmend.localise.case import Case
from netmend.localise.lines.data_lines import input_origin, loader_site, target_origin
from netmend.localise.lines.epoch_loop import epoch_loop
from netmend.program.text.sources import Sources
from netmend.vocabulary import Call, LossFact, ModelFact, Pattern, Site, Trace

PROGRAMS = {
    "batches cut by hand": """\
        x = torch.randn(100, 4) * 255  # input
        y = (x.sum(1) > 0).long()  # target
        EPOCHS = 3  # rounds
        for epoch in range(EPOCHS):
            for i in range(0, 100, 10):
                xb, yb = x[i:i + 10], y[i:i + 10]
                out = model(xb)  # model
                loss = criterion(out, yb)  # loss
                opt.step()  # step
        """,
    "a loader": """\
        images = np.load("x.npy")  # input
        labels = np.load("y.npy")  # target
        loader = DataLoader(TensorDataset(images, labels), batch_size=8)
        for epoch in range(12):  # rounds
            for xb, yb in loader:
                out = model(xb.float())  # model
                loss = criterion(out, yb)  # loss
                opt.step()  # step
        """,
    "functions": """\
        def train_epoch(model, x, y):
            for i in torch.randperm(100).split(10):
                out = model(x[i])  # model
                loss = criterion(out, y[i])  # loss
                opt.step()  # step
        def main(epochs=4):  # rounds
            features = make_features()  # input
            targets = make_targets()  # target
            for epoch in range(1, epochs + 1):
                train_epoch(model, features, targets)
        main()
        """,
    "names of other functions": """\
        def picture(kind):
            x, y = rng.integers(4, 12, 2)
            return draw(kind, x, y)
        def pictures():
            xs = [picture(kind) for kind in range(9)]
            return TensorDataset(torch.tensor(xs), torch.arange(9))  # input, target
        loader = DataLoader(pictures())
        for epoch in range(6):  # rounds
            for x, y in loader:
                out = model(x)  # model
                loss = criterion(out, y)  # loss
                opt.step()  # step
        """,
    "enumerated": """\
        data, answers = load()  # input, target
        loader = DataLoader(TensorDataset(data, answers), 8, shuffle=True)
        for _ in tqdm(range(7)):  # rounds
            for step, (a, b) in enumerate(loader):
                out = model(a)  # model
                loss = criterion(out, b)  # loss
                opt.step()  # step
        """,
}


def _line(text: str, mark: str) -> int:
    (found,) = [
        n for n, line in enumerate(text.splitlines(), 1) if "#" in line and mark in line.rsplit("#", 1)[1]
    ]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_origins(tmp_path: Path, name: str) -> None:
    text = textwrap.dedent(PROGRAMS[name])
    file = tmp_path / "train.py"
    file.write_text(text, encoding="utf-8")

    def site(mark: str) -> Site:
        line = text.splitlines()[_line(text, mark) - 1]
        start = line.index("= ") + 2 if "= " in line else len(line) - len(line.lstrip())
        end = len(line[: line.index("#")].rstrip())
        return Site(str(file), _line(text, mark), start, _line(text, mark), end)

    trace = Trace(
        facts={
            "model": {"model": ModelFact("model", "Net", called=site("model"))},
            "loss": {"loss": LossFact("loss", called=site("loss"), backward=site("loss"))},
        },
        patterns=(Pattern((Call("step", site=site("step")),), ((0, 9),)),),
    )
    sources = Sources(str(tmp_path), str(file))
    case = Case(trace, (), sources)
    made, answered, loop = input_origin(case), target_origin(case), epoch_loop(sources, trace)
    assert made is not None and made.line == _line(text, "input")
    assert answered is not None and answered.line == _line(text, "target")
    assert loop is not None and loop.count.line == _line(text, "rounds")


def test_what_an_object_holds_is_no_argument_of_its_method(tmp_path: Path) -> None:
    text = textwrap.dedent("""\
        class Trainer:
            def run(self):
                for i in range(10):
                    out = model(self.x[i])
        Trainer().run()
        Trainer().run(7)
        """)
    file = tmp_path / "train.py"
    file.write_text(text, encoding="utf-8")
    called = Site(str(file), 4, 18, 4, 34)
    trace = Trace(facts={"model": {"model": ModelFact("model", "Net", called=called)}})
    origin = input_origin(Case(trace, (), Sources(str(tmp_path), str(file))))
    assert origin is None or origin.line == 4


def test_the_loop_that_cuts_batches_for_a_function_of_one_step(tmp_path: Path) -> None:
    text = """\
        def train(model, x, y):
            out = model(x)  # model
            criterion(out, y).backward()

        for epoch in range(9):
            for start in range(0, 100, 10):
                train(model, rows[start : start + 10], tags[start : start + 10])
        """
    (tmp_path / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    trace = Trace(facts={"model": {"model": ModelFact("model", "Net", called=Site("train.py", 2))}})
    found = loader_site(Case(trace, (), Sources(str(tmp_path), "train.py")))
    assert found is not None and found.line == 6
