"""A value is followed from the argument of a call to the line where it is set."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from netmend.program.settings import argument_origin
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

CASES = {
    "literal": {"train.py": "opt = SGD(net.parameters(), lr=10.0)  # call, here\n"},
    "positional": {"train.py": "opt = SGD(net.parameters(), 10.0)  # call, here\n"},
    "constant": {"train.py": "LR = 10.0  # here\nopt = SGD(p, lr=LR)  # call\n"},
    "set anew by a loop, for its further rounds": {
        "train.py": """\
            lr = 1.0
            for part in parts:
                opt = SGD(part, lr=lr)  # call
                lr = 10.0  # here
            """
    },
    "set anew by a loop from what else it holds": {
        "train.py": """\
            lr = 1.0
            for part, after in parts:
                opt = SGD(part, 10.0, lr=lr)  # call, here
                lr = after
            """
    },
    "several at once": {"train.py": "EPOCHS, LR = 5, 10.0  # here\nopt = SGD(p, lr=LR)  # call\n"},
    "annotated constant": {"train.py": "LR: float = 10.0  # here\nopt = SGD(p, lr=LR)  # call\n"},
    "argparse default": {
        "train.py": """\
            parser = ArgumentParser()
            parser.add_argument("--epochs", type=int, default=3)
            parser.add_argument("--lr", type=float, default=10.0)  # here
            args = parser.parse_args()
            opt = SGD(p, lr=args.lr)  # call
            """
    },
    "argparse with a dash": {
        "train.py": """\
            parser.add_argument("-l", "--learning-rate", type=float, default=10.0)  # here
            opt = SGD(p, lr=args.learning_rate)  # call
            """
    },
    "dataclass field": {
        "train.py": """\
            @dataclass
            class Config:
                epochs: int = 3
                lr: float = 10.0  # here
            config = Config()
            opt = SGD(p, lr=config.lr)  # call
            """
    },
    "attributes of self, several at once": {
        "train.py": """\
            class Trainer:
                def __init__(self, epochs=3, lr=10.0):  # here
                    self.epochs, self.lr = epochs, lr

                def fit(self):
                    opt = SGD(p, lr=self.lr)  # call
            """
    },
    "a configuration file that the program names": {
        "train.py": """\
            config = json.load(open("settings.json"))
            opt = SGD(p, lr=config["lr"])  # call
            """,
        "labels.json": '{"lr": 3}\n',
        "settings.json": '{\n "lr": 10.0, "comment": "# here"\n}\n',
    },
    "attribute of self": {
        "train.py": """\
            class Trainer:
                def __init__(self, model):
                    self.lr = 10.0  # here
                    self.opt = SGD(p, lr=self.lr)  # call
            """
    },
    "parameter of the constructor": {
        "train.py": """\
            class Trainer:
                def __init__(self, model, lr):
                    self.lr = lr
                    self.opt = SGD(p, lr=self.lr)  # call
            Trainer(net, lr=10.0)  # here
            """
    },
    "function parameter given by its only call": {
        "train.py": """\
            def make(params, lr):
                return SGD(params, lr=lr)  # call
            opt = make(p, 10.0)  # here
            """
    },
    "function default": {
        "train.py": """\
            def make(params, lr=10.0):  # here
                return SGD(params, lr=lr)  # call
            opt = make(p)
            """
    },
    "dictionary": {"train.py": 'cfg = {\n    "lr": 10.0,  # here\n}\nopt = SGD(p, lr=cfg["lr"])  # call\n'},
    "imported constant": {
        "train.py": "from settings import LR\nopt = SGD(p, lr=LR)  # call\n",
        "settings.py": "LR = 10.0  # here\n",
    },
    "dataclass in another file": {
        "train.py": "from config import Config\ncfg = Config()\nopt = SGD(p, lr=cfg.lr)  # call\n",
        "config.py": "class Config:\n    lr: float = 10.0  # here\n",
    },
    "yaml": {
        "train.py": 'cfg = yaml.safe_load(open("config.yaml"))\nopt = SGD(p, lr=cfg["lr"])  # call\n',
        "config.yaml": "epochs: 3\nlr: 10.0  # here\n",
    },
    "local variable": {
        "train.py": """\
            lr = 0.1
            def main():
                lr = 10.0  # here
                opt = SGD(p, lr=lr)  # call
            """
    },
    "converted": {"train.py": "LR = '10.0'  # here\nopt = SGD(p, lr=float(LR))  # call\n"},
    "an expression stays where it is": {
        "train.py": "base = 0.1\nopt = SGD(p, lr=base * 100)  # call, here\n"
    },
}


def _marked(files: dict[str, str], mark: str) -> tuple[str, int]:
    (found,) = [
        (name, number)
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if "#" in line and mark in line.rsplit("#", 1)[1]
    ]
    return found


@pytest.mark.parametrize("name", CASES)
def test_values_are_followed(tmp_path: Path, name: str) -> None:
    files = {file: textwrap.dedent(text) for file, text in CASES[name].items()}
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    file, line = _marked(files, "call")
    sources = Sources(str(tmp_path), str(tmp_path / "train.py"))
    origin = argument_origin(sources, Site(str(tmp_path / file), line), "lr", 1)
    assert origin is not None
    assert (Path(origin.site.file).name, origin.site.line) == _marked(files, "here")


def test_nothing_is_claimed_about_what_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("opt = SGD(p)\nthis is ( not python\n", encoding="utf-8")
    sources = Sources(str(tmp_path), str(file))
    assert argument_origin(sources, Site(str(file), 1), "lr", 1) is None
    assert argument_origin(sources, Site(str(tmp_path / "gone.py"), 1), "lr") is None
    assert argument_origin(sources, None, "lr") is None


def test_the_call_is_found_by_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("a, b = SGD(p, lr=1.0), SGD(q, lr=2.0)\n", encoding="utf-8")
    sources = Sources(str(tmp_path), str(file))
    origin = argument_origin(sources, Site(str(file), 1, 23, 1, 37), "lr", 1)
    assert origin is not None and origin.text == "2.0"


def test_umlauts_before_the_call_do_not_shift_the_text(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("ü = SGD(p, lr=2.5)\n", encoding="utf-8")
    origin = argument_origin(Sources(str(tmp_path), str(file)), Site(str(file), 1), "lr", 1)
    assert origin is not None and origin.text == "2.5"
