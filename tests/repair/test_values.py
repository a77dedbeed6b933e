"""Setting an argument of a call: where its value was set, and at the call itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sources import Program

from netmend.program.source.values import Faces, set_argument, set_value
from netmend.vocabulary import Site

ARGPARSE = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", "-l", type=float, default=10.0, help="rate")
parser.add_argument("--momentum", type=float)
args = parser.parse_args()
opt(p, lr=args.lr, momentum=args.momentum)
"""


def faces(
    folder: Path,
    source: str,
    files: dict[str, str] | None = None,
    name: str = "lr",
    text: str = "0.01",
    **more: Any,
) -> tuple[Program, Faces]:
    program = Program(folder, source, files)
    return program, set_argument(program.code, program.site("opt"), name, text, **more)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("opt(p, lr=10)\n", "opt(p, lr=0.01)\n"),
        ("opt(p, 10)\n", "opt(p, 0.01)\n"),
        ("opt(p, lr=-1e-3)\n", "opt(p, lr=0.01)\n"),
        ("opt(p, lr=10 ** -3)\n", "opt(p, lr=0.01)\n"),
        ("opt(p, lr=(0.9, 0.99))\n", "opt(p, lr=0.01)\n"),
        ("opt(p)\n", "opt(p, lr=0.01)\n"),
        ("opt()\n", "opt(lr=0.01)\n"),
        ("opt(\n    p,\n    lr=10,  # high\n)\n", "opt(\n    p,\n    lr=0.01,  # high\n)\n"),
        ("opt(p, lr=schedule(3))\n", "opt(p, lr=0.01)\n"),  # cannot be followed: at the call
        ("opt(p, lr=unknown)\n", "opt(p, lr=0.01)\n"),
    ],
)
def test_at_the_call_there_is_one_face(tmp_path: Path, before: str, after: str) -> None:
    program, made = faces(tmp_path, before, position=1)
    assert made and made.forced == () and made.arguments is None
    assert program.after(made.edits) == {"train.py": after}


@pytest.mark.parametrize("source", ["opt(p, **settings)\n", "opt(*everything)\n", "opt(p, *rest)\n"])
def test_what_may_come_from_elsewhere_is_not_added(tmp_path: Path, source: str) -> None:
    """`lr=` beside `**settings` would be given twice."""
    _, made = faces(tmp_path, source, position=1)
    assert not made and made == Faces()


def test_a_setting_given_beside_others_can_be_set(tmp_path: Path) -> None:
    program, made = faces(tmp_path, "opt(p, lr=10, **settings)\n")
    assert program.after(made.edits) == {"train.py": "opt(p, lr=0.01, **settings)\n"}


def test_no_call_no_change(tmp_path: Path) -> None:
    program = Program(tmp_path, "x = 1\n")
    assert not set_argument(program.code, None, "lr", "1")
    assert not set_argument(program.code, Site(str(tmp_path / "gone.py"), 4, 0, 4, 6), "lr", "1")
    assert not set_argument(program.code, Site(program.script, 1, 0, 1, 5), "lr", "1")


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        ("LR = 10\nopt(p, lr=LR)\n", "LR = 10", "LR = 0.01"),
        ("LR: float = 10\nopt(p, lr=LR)\n", "= 10\n", "= 0.01\n"),
        ("a, LR = 1, 10\nopt(p, lr=LR)\n", "1, 10", "1, 0.01"),
        ("def main(lr=10):\n    opt(p, lr=lr)\n\n\nmain()\n", "lr=10", "lr=0.01"),
        ("def main(lr):\n    opt(p, lr=lr)\n\n\nmain(10)\n", "main(10)", "main(0.01)"),
        ("CONFIG = {'rate': 10, 'epochs': 3}\nopt(p, lr=CONFIG['rate'])\n", "'rate': 10", "'rate': 0.01"),
        ("CONFIG = dict(rate=10)\nopt(p, lr=CONFIG['rate'])\n", "rate=10", "rate=0.01"),
        (
            "from dataclasses import dataclass\n\n\n@dataclass\nclass Config:\n    rate: float = 10.0\n\n\n"
            "config = Config()\nopt(p, lr=config.rate)\n",
            "= 10.0",
            "= 0.01",
        ),
        ("class Config:\n    rate = 10\n\n\nopt(p, lr=Config.rate)\n", "rate = 10", "rate = 0.01"),
        (ARGPARSE, "default=10.0", "default=0.01"),
        (ARGPARSE.replace("10.0", "'10'"), "default='10'", "default='0.01'"),  # argparse converts it
    ],
)
def test_where_the_value_was_set(tmp_path: Path, before: str, old: str, new: str) -> None:
    program, made = faces(tmp_path, before)
    assert before.count(old) == 1
    assert program.after(made.edits) == {"train.py": before.replace(old, new)}
    # The intervention stands at the call and leaves the rest alone.
    call = before[before.index("opt(p") :]
    value = call.partition("lr=")[2].partition(",")[0].partition(")")[0]
    assert program.after(made.forced) == {
        "train.py": before.replace(call, call.replace(f"lr={value}", "lr=0.01"))
    }


def test_a_constant_of_another_module(tmp_path: Path) -> None:
    source = "from settings import RATE as lr\nopt(p, lr=lr)\n"
    program, made = faces(tmp_path, source, {"settings.py": "# all of them\r\nRATE = 10\r\n"})
    assert program.after(made.edits) == {"settings.py": "# all of them\r\nRATE = 0.01\r\n"}
    assert program.after(made.forced) == {"train.py": source.replace("lr=lr", "lr=0.01")}


def test_a_constant_of_another_module_in_the_copy_of_a_trial(tmp_path: Path) -> None:
    """Where repairs really look: the copies lie in .netmend/trials."""
    folder = tmp_path / ".netmend" / "trials" / "a1b2c3" / "program"
    program, made = faces(
        folder, "from settings import RATE\nopt(p, lr=RATE)\n", {"settings.py": "RATE = 10\n"}
    )
    assert program.after(made.edits) == {"settings.py": "RATE = 0.01\n"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("--lr", "10"), ("--lr", "0.01")),
        (("--lr=10",), ("--lr=0.01",)),
        (("-l", "10"), ("-l", "0.01")),
        (("--epochs", "3", "--lr", "10", "--seed", "1"), ("--epochs", "3", "--lr", "0.01", "--seed", "1")),
        (("--lr", "1", "--lr", "10"), ("--lr", "1", "--lr", "0.01")),  # the last one holds
    ],
)
def test_a_value_from_the_command_line_is_changed_there(
    tmp_path: Path, given: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    program, made = faces(tmp_path, ARGPARSE, arguments=given)
    assert made and made.edits == () and made.arguments == expected
    assert program.after(made.forced) == {"train.py": ARGPARSE.replace("lr=args.lr", "lr=0.01")}


def test_an_option_without_a_default_has_to_be_given(tmp_path: Path) -> None:
    _, made = faces(tmp_path, ARGPARSE, name="momentum", text="0.9", arguments=("--lr", "1"))
    assert made.edits == () and made.arguments == ("--lr", "1", "--momentum", "0.9")


def test_other_options_change_nothing(tmp_path: Path) -> None:
    program, made = faces(tmp_path, ARGPARSE, arguments=("--momentum", "0.5"))
    assert made.arguments is None
    assert program.after(made.edits) == {"train.py": ARGPARSE.replace("10.0", "0.01")}


def test_words_are_typed_without_quotes(tmp_path: Path) -> None:
    source = ARGPARSE.replace('"--lr", "-l", type=float, default=10.0', '"--kind", default="sum"').replace(
        "lr=args.lr", "reduction=args.kind"
    )
    program, made = faces(tmp_path, source, name="reduction", text="'mean'", arguments=("--kind", "sum"))
    assert made.arguments == ("--kind", "mean")
    program, made = faces(tmp_path, source, name="reduction", text="'mean'")
    assert program.after(made.edits) == {"train.py": source.replace('"sum"', "'mean'")}


YAML = "# settings\nmodel:\n  width: 8\ntraining:\n  lr: 10.0   # too high\n  epochs: 3\n"
JSON = '{\n  "model": {"width": 8},\n  "lr": 10,\n  "epochs": 3\n}\n'
TOML = '[training]\nname = "a # b"\nlr = 10.0 # high\nepochs = 3\n'


def reader(file: str) -> Callable[[str], Any]:
    if file.endswith(".json"):
        return json.loads
    if file.endswith(".toml"):
        return pytest.importorskip("tomllib").loads  # type: ignore[no-any-return]
    return pytest.importorskip("yaml").safe_load  # type: ignore[no-any-return]


@pytest.mark.parametrize("text", ["0.01", "1e-05", "3", "True", "'adam'", "(0.9, 0.99)"])
@pytest.mark.parametrize(
    ("file", "content"),
    [("config.yaml", YAML), ("conf/main.yml", YAML), ("config.json", JSON), ("config.toml", TOML)],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_key_of_a_configuration_file(
    tmp_path: Path, text: str, file: str, content: str, line_end: str
) -> None:
    """What the program reads from it afterwards is that value and nothing else has changed."""
    source = "config = load()\nopt(p, lr=config['lr'])\n"
    program, made = faces(tmp_path, source, {file: content.replace("\n", line_end)}, text=text)
    (after,) = program.after(made.edits).values()
    read = reader(file)
    before_data, data = read(content), read(after.replace(line_end, "\n"))
    inner, old = data.get("training", data), before_data.get("training", before_data)
    expected = eval(text)
    assert inner["lr"] == (list(expected) if isinstance(expected, tuple) else expected)
    assert type(inner["lr"]) in (type(expected), list)
    old["lr"] = inner["lr"]
    assert data == before_data
    changed = [a for a, b in zip(content.split("\n"), after.split(line_end), strict=True) if a != b]
    assert len(changed) == 1 and "lr" in changed[0]
    assert after.count("#") == content.count("#")  # comments stay
    assert program.after(made.forced) == {"train.py": source.replace("config['lr']", text)}


def test_keys_that_share_a_line(tmp_path: Path) -> None:
    line = '{"lr": 10, "betas": [0.9, 0.99], "name": "x, y", "epochs": 3}\n'
    for source in (
        "c = load()\nopt(p, n=c['epochs'])\n",
        "c = load()\nn = c['epochs']\nopt(p, n=n)\n",
        "c = load()\nopt(p, n=int(c.get('epochs')))\n",
        "c = load()\nopt(p, n=c.epochs)\n",
    ):
        program, made = faces(tmp_path, source, {"config.json": line}, name="n", text="30")
        assert program.after(made.edits) == {"config.json": line.replace("3}", "30}")}
    program, made = faces(
        tmp_path, "c = load()\nopt(p, n=c['betas'])\n", {"config.json": line}, name="n", text="(1, 2)"
    )
    assert program.after(made.edits) == {"config.json": line.replace("[0.9, 0.99]", "[1, 2]")}


def test_a_configuration_holds_values_not_expressions(tmp_path: Path) -> None:
    program, made = faces(
        tmp_path, "c = load()\nopt(p, lr=c['lr'])\n", {"config.json": JSON}, text="10 / len(p)"
    )
    assert program.after(made.edits) == {"train.py": "c = load()\nopt(p, lr=10 / len(p))\n"}
    assert made.forced == ()


@pytest.mark.parametrize(
    ("source", "after", "forced"),
    [
        ("x = 5\nstep(x)\n", "x = 7\nstep(x)\n", "x = 5\nstep(7)\n"),
        ("step(5)\n", "step(7)\n", None),
        ("step(f())\n", "step(7)\n", None),
    ],
)
def test_set_value(tmp_path: Path, source: str, after: str, forced: str | None) -> None:
    program = Program(tmp_path, source)
    made = set_value(program.code, program.file, program.call("step").args[0], "7")
    assert program.after(made.edits) == {"train.py": after}
    assert program.after(made.forced) == ({"train.py": forced} if forced else {})
