"""Ctrl-C while netmend judges: said once, then skipped; the program's own handler is back afterwards."""

from __future__ import annotations

import signal

import pytest

from netmend.cli.aftermath import Patience


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_is_answered_the_second_skips(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    done = []
    with Patience(asked=False, quiet=False) as patience:
        patience.begin()
        press()
        done.append("judged on")
        press()
        done.append("never")
    assert done == ["judged on"]
    assert patience.skipped
    assert capsys.readouterr().err == "netmend: judging; Ctrl-C again to skip\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_whoever_interrupted_the_program_is_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Patience(asked=True, quiet=False) as patience:
        patience.begin()
        assert "Ctrl-C again to skip" in capsys.readouterr().err
        press()
        pytest.fail("the second is not obeyed")
    assert patience.skipped
    assert capsys.readouterr().err == ""


def test_who_does_not_want_to_hear_of_interrupts_does_not() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Patience(asked=False, quiet=True):
            press()
            press()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_exceptions_pass() -> None:
    with pytest.raises(ValueError, match="mine"), Patience(asked=False, quiet=True):
        raise ValueError("mine")
