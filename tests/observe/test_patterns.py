"""PatternBook: the stream of calls becomes one compact pattern per step, without losing a call or its place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from netmend.observe.patterns import PatternBook, fold
from netmend.vocabulary import Call, Site

LETTERS = {letter: Call("forward", letter) for letter in "abcd"}


def calls_of(text: str) -> list[Call]:
    return [LETTERS[letter] for letter in text]


def counts(folded: tuple[Call, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for call in folded:
        found[call.component] = found.get(call.component, 0) + call.times
    return found


@given(st.text("abcd", max_size=60))
def test_no_call_is_lost_or_invented(text: str) -> None:
    assert counts(fold(calls_of(text))) == {letter: text.count(letter) for letter in set(text)}


@given(st.text("abcd", max_size=60))
def test_first_appearances_keep_their_order(text: str) -> None:
    folded = [call.component for call in fold(calls_of(text))]
    assert list(dict.fromkeys(folded)) == list(dict.fromkeys(text))


@given(st.text("abcd", max_size=11))
def test_short_steps_can_be_unfolded_exactly(text: str) -> None:
    assert "".join(call.component * call.times for call in fold(calls_of(text))) == text


@given(st.text("abcd", min_size=1, max_size=8), st.integers(2, 200))
def test_cycles_cost_no_more_than_one_of_their_rounds(cycle: str, times: int) -> None:
    folded = fold(calls_of(cycle * times))
    if len(cycle) * times >= 12:
        assert len(folded) <= len(cycle)


def test_a_validation_pass_inside_a_step() -> None:
    folded = fold(calls_of("a" + "bc" * 100 + "d"))
    assert [(call.component, call.times) for call in folded] == [("a", 1), ("b", 100), ("c", 100), ("d", 1)]


def test_equal_calls_from_other_lines_are_other_calls() -> None:
    first, second = Call("backward", site=Site("a.py", 1)), Call("backward", site=Site("a.py", 2))
    assert fold([first, second, first]) == (first, second, first)


class Closed:
    def __init__(self) -> None:
        self.steps: list[tuple[int, tuple[Call, ...]]] = []

    def __call__(self, step: int, calls: tuple[Call, ...]) -> None:
        self.steps.append((step, calls))


def test_everything_since_the_last_step_belongs_to_the_step() -> None:
    closed = Closed()
    book = PatternBook(closed)
    book.note("forward", "net", "train, grad")
    book.note("step", "optimizer")
    book.close(0)
    book.note("step", "optimizer")
    book.close(1)
    assert [(step, [c.what for c in calls]) for step, calls in closed.steps] == [
        (0, ["forward", "step"]),
        (1, ["step"]),
    ]


def test_equal_steps_give_equal_patterns() -> None:
    closed = Closed()
    book = PatternBook(closed)
    for step in range(3):
        book.note("forward", "net")
        book.note("step", "optimizer", site=Site("a.py", 3))
        book.close(step)
    assert len({calls for _, calls in closed.steps}) == 1


def test_what_is_forgotten_belongs_to_no_step() -> None:
    closed = Closed()
    book = PatternBook(closed)
    book.note("forward", "net")
    book.forget()
    book.note("step", "optimizer")
    book.close(5)
    assert [[c.what for c in calls] for _, calls in closed.steps] == [["step"]]


def test_memory_of_one_step_is_bounded() -> None:
    closed = Closed()
    book = PatternBook(closed)
    for number in range(20_000):
        book.note("forward", f"net{number % 50}", f"{number}" if number % 7 == 0 else "")
    book.close(0)
    ((_, calls),) = closed.steps
    assert sum(call.times for call in calls) <= 5000
