"""Sets of options: each field that declares one becomes an option of the command that names the set."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from netmend.cli.options import OutputOptions, Quiet, expanded
from netmend.errors import UsageError
from netmend.repair.options import Measure
from netmend.trials.options import TrialOptions, option


@dataclass(frozen=True)
class Chosen:
    file: Path = option(MISSING, "What to read.", metavar="FILE", is_argument=True)
    times: int = option(2, "How often.", least=1)
    dry_run: bool = option(False, "Only say it.")
    named: str | None = option(None, "Called otherwise.", "-n", "--name", metavar="NAME")
    quiet: Quiet = False
    own: int = 7  # not given on the command line


@expanded
def command(chosen: Chosen, *, last: int = 0) -> None:
    """Does nothing."""
    typer.echo(f"{chosen} {last}")


def call(*arguments: str) -> tuple[int, str]:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(command)
    ended = CliRunner().invoke(app, list(arguments))
    return ended.exit_code, ended.output


def test_a_set_is_written_out_and_put_together_again() -> None:
    code, text = call("a.py", "--times", "3", "--dry-run", "-n", "x", "-q", "--last", "5")
    assert code == 0
    assert text == f"{Chosen(Path('a.py'), 3, True, 'x', True)} 5\n"
    assert call("a.py")[1] == f"{Chosen(Path('a.py'))} 0\n"


def test_what_is_missing_or_too_small_is_refused() -> None:
    assert call()[0] == 2 and call("a.py", "--times", "0")[0] == 2 and call("a.py", "--own", "1")[0] == 2


def test_help_names_each_option_once() -> None:
    text = call("--help")[1]
    for word in ("FILE", "How often.", "--dry-run", "-n, --name NAME", "Show nothing but errors.", "--last"):
        assert text.count(word) >= 1
    assert "own" not in text and "no-dry-run" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (TrialOptions(jobs=0), "--jobs must be at least 1, got 0"),
        (TrialOptions(threads=0), "--threads must be at least 1"),
        (TrialOptions(seconds=0.0), "--time-limit must be a number of seconds above 0"),
    ],
)
def test_what_the_command_line_refuses_the_api_refuses_too(options: TrialOptions, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        options.checked()


def test_outcomes_go_where_they_can(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist; create it first"):
        OutputOptions(json=tmp_path / "no" / "o.json")
    with pytest.raises(UsageError, match="that is a directory"):
        OutputOptions(html=tmp_path)
    assert OutputOptions(tmp_path / "o.json").files == (tmp_path / "o.json",)


def test_a_measure_is_one_number_in_the_output() -> None:
    assert Measure("acc ([0-9.]+)", higher_is_better=True).checked().higher_is_better
    for measure in (Measure("("), Measure("acc"), Measure("(a)", "file")):
        with pytest.raises(UsageError, match="--metric"):
            measure.checked()
